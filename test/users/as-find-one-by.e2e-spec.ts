import { Database } from '../../libs/auth/src/kernel/database';
import { withAuthColumns } from '@svc/auth';
import { Column, DataSource, Entity, ManyToOne, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { TypeormUserProvider } from '../../libs/auth/src/users/typeorm-user-provider';
import { createEmptyDatabase } from '../support/database';

@Entity('teams')
class Team {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @Column('text')
  name!: string;
}

@Entity('members')
class Member extends withAuthColumns() {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @ManyToOne(() => Team)
  team?: Team;
}

@Entity('lazy_members')
class LazyMember extends withAuthColumns() {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @ManyToOne(() => Team, { lazy: true })
  team?: Promise<Team>;
}

const prefixed = { to: (id: string) => Number(id.slice(4)), from: (id: number) => `usr_${id}` };

@Entity('prefixed')
class Prefixed extends withAuthColumns() {
  @PrimaryColumn('int', { transformer: prefixed })
  id!: string;
}

@Entity('binary_users')
class Binary extends withAuthColumns() {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @Column('bytea')
  avatar!: Buffer;

  @Column('interval')
  naps!: object;

  @Column('jsonb')
  settings!: { theme: string };
}

@Entity('numbered')
class Numbered {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @Column('int')
  staffNumber!: number;

  @Column('text', { nullable: true })
  passwordHash?: string;
}

describe('a user read for a guarded request', () => {
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let source: DataSource;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    source = await new DataSource({
      type: 'postgres',
      url: database.url,
      entities: [Team, Member, LazyMember, Prefixed, Binary, Numbered],
      installExtensions: false,
      synchronize: true,
    }).initialize();
    await source.getRepository(Team).save({ name: 'Red' });
  });
  afterAll(async () => {
    await source.destroy();
    await database.drop();
  });

  const provider = (entity: new () => object, username = 'email') =>
    new TypeormUserProvider(new Database(source, 5000), entity, username);

  async function expectAsFindOneBy(entity: new () => object, id: unknown): Promise<void> {
    const read = await provider(entity).findById(String(id));
    expect(read).not.toBeNull();
    expect(read).toStrictEqual(await source.getRepository(entity).findOneBy({ id } as never));
  }

  it('has no trace of a relation that nobody asked for', async () => {
    const inTeam = await source.getRepository(Member).save({ email: 'a', team: { id: 1 } as Team });
    const alone = await source.getRepository(Member).save({ email: 'b' });
    await expectAsFindOneBy(Member, inTeam.id);
    await expectAsFindOneBy(Member, alone.id);
  });

  it('loads its lazy relations when they are asked for', async () => {
    const lazy = source.getRepository(LazyMember).create({ email: 'a' });
    lazy.team = Promise.resolve(await source.getRepository(Team).findOneByOrFail({ id: 1 }));
    await source.getRepository(LazyMember).save(lazy);
    const read = (await provider(LazyMember).findById(String(lazy.id))) as LazyMember;
    expect(await read.team).toMatchObject({ name: 'Red' });
  });

  it('is found by the id as the entity spells it', async () => {
    await source.getRepository(Prefixed).save({ id: 'usr_7', email: 'a' });
    await expectAsFindOneBy(Prefixed, 'usr_7');
  });

  it('is each request`s own, and whole, when several ask for one user at once', async () => {
    const settings = { theme: 'dark' };
    const { id } = await source
      .getRepository(Binary)
      .save({ email: 'a', avatar: Buffer.from('x'), naps: '1 day', settings } as never as Binary);
    const users = provider(Binary);
    const [one, two, three] = (await Promise.all([1, 2, 3].map(() => users.findById(String(id))))) as Binary[];
    for (const other of [two, three]) expect(other).toStrictEqual(one);
    expect(Buffer.isBuffer(three!.avatar)).toBe(true);
    one!.settings.theme = 'changed';
    expect(two!.settings.theme).toBe('dark');
    expect(three!.settings.theme).toBe('dark');
  });

  it('is nobody under an identifier that its column could not hold', async () => {
    expect(await provider(Numbered, 'staffNumber').findByIdentifier('ada')).toBeNull();
  });
});
