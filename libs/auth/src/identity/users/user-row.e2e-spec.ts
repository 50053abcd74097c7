import { DataSource, type EntitySubscriberInterface, EventSubscriber, type ObjectLiteral } from 'typeorm';
import { createEmptyDatabase } from '../../../../../test/support/stores/database';
import {
  ACCOUNTS,
  Binary,
  ByInt,
  ByNumberedAlias,
  Captain,
  Counting,
  Crew,
  Eager,
  Embedding,
  Greeting,
  InTeam,
  LazilyInTeam,
  Staff,
  Team,
} from '../../../../../test/support/hosts/user-entity-variants';
import { Mood, AllColumnTypes } from '../../../../../test/support/hosts/all-column-types';
import { Database } from '../../foundation/platform/database';
import { TypeormUserProvider } from './typeorm-user-provider';
// Its statements with a stopped time must read rows as all others.
import '../../tools/testing/movable-clock';
import { rowReader } from './user-rows';

type Entity = new () => ObjectLiteral;

let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
let source: DataSource;

beforeAll(async () => {
  database = await createEmptyDatabase();
  source = await connect({});
  await source.query('CREATE SCHEMA crm');
  await source.synchronize();
});
afterAll(async () => {
  await source.destroy();
  await database.drop();
});

const connect = (options: object): Promise<DataSource> =>
  new DataSource({
    type: 'postgres',
    url: database.url,
    entities: ACCOUNTS,
    installExtensions: false,
    uuidExtension: 'pgcrypto',
    ...options,
  }).initialize();

describe('a user read by a prepared statement', () => {
  const isPrepared = (entity: Entity, on = source): boolean =>
    rowReader(new Database(on, 5000), on.getRepository(entity).metadata) !== undefined;

  /** Reads by the provider, by id and by email, and by the repository. All entities must have equal properties. */
  async function readBoth(entity: Entity, id: unknown, on = source): Promise<ObjectLiteral> {
    const users = new TypeormUserProvider(new Database(on, 5000), entity, 'email');
    const expected = await on.getRepository(entity).findOneBy({ id });
    expect(expected).not.toBeNull();
    const read = await users.findById(String(id));
    const found = await users.findByIdentifier(expected!.email);
    for (const user of [read, found!.user]) {
      expect(user).toStrictEqual(expected);
      expect(Object.getPrototypeOf(user)).toBe(Object.getPrototypeOf(expected));
      expect(Object.keys(user!)).toEqual(Object.keys(expected!));
    }
    return read!;
  }

  async function saveUser(email: string, changed: Partial<AllColumnTypes> = {}): Promise<AllColumnTypes> {
    return source.getRepository(AllColumnTypes).save({
      email,
      passwordHash: 'digest',
      balance: '1234567890.1200',
      cents: 12n,
      visits: '9007199254740993',
      ratio: 0.1,
      active: true,
      birthday: '1815-12-10',
      seenAt: new Date('2024-02-29T23:59:59.123Z'),
      localAt: new Date(2024, 1, 29, 1, 2, 3),
      wakesAt: '06:30:00',
      naps: '1 day 02:00:00' as never,
      settings: { theme: 'dark', list: [1, { a: null }] },
      nothing: null,
      simple: { a: [1] },
      tags: ['a', 'b'],
      names: ['Ada', 'a,b', '"q"', ''],
      scores: null,
      logins: [new Date(0), new Date(1e12)],
      mood: Mood.Cross,
      moods: [Mood.Calm, Mood.Cross],
      humour: Mood.Calm,
      avatar: Buffer.from([0, 255, 1]),
      address: '10.0.0.1',
      home: '(1.5,2)' as never,
      mirrored: 'abc',
      loud: 'abc',
      ...changed,
    });
  }

  it('equals the entity that the repository finds, for every column type', async () => {
    const { id } = await saveUser('ada@example.com');
    expect(isPrepared(AllColumnTypes)).toBe(true);
    const read = (await readBoth(AllColumnTypes, id)) as AllColumnTypes;
    expect(read).toBeInstanceOf(AllColumnTypes);
    expect(read).toMatchObject({
      balance: '1234567890.1200',
      cents: 12n,
      visits: '9007199254740993',
      birthday: '1815-12-10',
      names: ['Ada', 'a,b', '"q"', ''],
      scores: null,
      mood: 'cross',
      mirrored: 'abc',
      loud: expect.any(String),
      display: 'ADA@EXAMPLE.COM',
      initial: 'a',
      version: 1,
    });
  });

  it('equals that entity also with empty lists and zeros', async () => {
    const { id } = await saveUser('grace@example.com', {
      balance: '0',
      cents: 0n,
      ratio: -0,
      active: false,
      settings: [],
      names: [],
      scores: [],
      moods: [],
      logins: [],
      avatar: Buffer.alloc(0),
    });
    await readBoth(AllColumnTypes, id);
  });

  it('has no column that is not selected by default', async () => {
    const { id } = await saveUser('joan@example.com');
    const read = await readBoth(AllColumnTypes, id);
    for (const name of ['secret', 'passwordHash']) expect(read).not.toHaveProperty(name);
    expect(JSON.stringify({ ...read, cents: 0 })).not.toMatch(/digest|hidden by default/);
  });

  it('is a new object for each read', async () => {
    const { id } = await saveUser('own@example.com');
    const users = new TypeormUserProvider(new Database(source, 5000), AllColumnTypes, 'email');
    const [one, other] = [await users.findById(id), await users.findById(id)];
    expect(one).not.toBe(other);
    expect(one).toStrictEqual(other);
  });

  it('has the requested id for each of several concurrent requests', async () => {
    const people = source.getRepository(ByInt);
    const { id: one } = await people.save({ email: 'one@x.test' });
    const { id: two } = await people.save({ email: 'two@x.test' });
    const users = new TypeormUserProvider(new Database(source, 5000), ByInt, 'email');
    const ids = [one, two, 'abc', one, 2 ** 40, `0${two}`, two, '{1}', one, 0];
    const found = await Promise.all(ids.map((id) => users.findById(String(id))));
    const expected = ids.map((id) => (id === one ? 'one@x.test' : id === two ? 'two@x.test' : undefined));
    expect(found.map((user) => user?.email)).toEqual(expected);
    const real = found.filter((user) => user !== null);
    expect(new Set(real).size).toBe(real.length);
    for (const user of real) expect(user).toBeInstanceOf(ByInt);
  });

  it('is not found while it is soft-deleted, and is found after it is restored', async () => {
    const { id } = await saveUser('gone@example.com');
    const users = new TypeormUserProvider(new Database(source, 5000), AllColumnTypes, 'email');
    await source.getRepository(AllColumnTypes).softDelete(id);
    expect(await users.findById(id)).toBeNull();
    expect(await users.findByIdentifier('gone@example.com')).toBeNull();
    await source.getRepository(AllColumnTypes).restore(id);
    expect(await users.findById(id)).toMatchObject({ email: 'gone@example.com', deletedAt: null });
  });

  it.each<[string, Entity, object, object]>([
    ['an eager relation', Eager, { team: { id: 1 } }, { team: { id: 1, name: 'Red' } }],
    ['embedded columns', Embedding, { address: { city: 'London' } }, { address: { city: 'London' } }],
    ['a load listener', Greeting, {}, { greeting: 'Hello e@example.com' }],
    ['single-table inheritance', Captain, { ship: 'Orca' }, { ship: 'Orca' }],
    ['a computed column', Counting, {}, { length: 13 }],
  ])('does not exist for an entity with %s, which the repository reads', async (_, entity, given, result) => {
    await source.getRepository(Team).save({ name: 'Red' });
    const { id } = await source.getRepository(entity).save({ email: 'e@example.com', ...given } as ObjectLiteral);
    expect(isPrepared(entity)).toBe(false);
    expect(await readBoth(entity, id)).toMatchObject({ email: 'e@example.com', ...result });
  });

  it('has the class of the child entity under inheritance', async () => {
    const { id } = await source.getRepository(Captain).save({ email: 'child@example.com', ship: 'Orca' });
    expect(await readBoth(Crew, id)).toBeInstanceOf(Captain);
  });

  it('is read by the repository instead when a subscriber has afterLoad', async () => {
    @EventSubscriber()
    class LoadSubscriber implements EntitySubscriberInterface {
      afterLoad(entity: ObjectLiteral): void {
        entity.loaded = true;
      }
    }
    @EventSubscriber()
    class Inserts implements EntitySubscriberInterface {
      afterInsert(): void {}
    }
    for (const [subscriber, prepared] of [
      [LoadSubscriber, false],
      [Inserts, true],
    ] as const) {
      const own = await connect({ subscribers: [subscriber] });
      const { id } = await own.getRepository(ByInt).save({ email: `${subscriber.name}@example.com` });
      expect(isPrepared(ByInt, own)).toBe(prepared);
      expect('loaded' in (await readBoth(ByInt, id, own))).toBe(!prepared);
      await own.destroy();
    }
  });

  it('is found by an identifier with the same steps as an unknown one is not found, so that the duration does not differ', async () => {
    await source.getRepository(ByInt).save({ email: 'steps@example.com' });
    const users = new TypeormUserProvider(new Database(source, 5000), ByInt, 'email');
    const builds = jest.spyOn(source.getMetadata(ByInt), 'create');
    const steps: [boolean, number][] = [];
    for (const email of ['steps@example.com', 'nobody@example.com']) {
      builds.mockClear();
      steps.push([(await users.findByIdentifier(email)) !== null, builds.mock.calls.length]);
    }
    builds.mockRestore();
    expect(steps).toEqual([
      [true, 1],
      [false, 1],
    ]);
  });

  it('is found also when the table was altered between two reads', async () => {
    // One connection, so that the second read uses the statement that the first read prepared.
    const own = await connect({ extra: { max: 1 } });
    const { id } = await own.getRepository(ByInt).save({ email: 'altered@example.com' });
    const users = new TypeormUserProvider(new Database(own, 5000), ByInt, 'email');
    for (const change of [
      'SELECT 1',
      'ALTER TABLE by_int ALTER COLUMN email TYPE varchar(400)',
      'ALTER TABLE by_int ADD COLUMN later int DEFAULT 1',
      'ALTER TABLE by_int ALTER COLUMN email TYPE text',
      'DEALLOCATE ALL',
    ]) {
      await own.query(change);
      for (const _time of [1, 2])
        expect(await users.findById(String(id))).toEqual({ id, email: 'altered@example.com' });
    }
    await own.query('ALTER TABLE by_int DROP COLUMN later');
    await own.destroy();
  });
});

describe('a user read for a guarded request', () => {
  beforeAll(() => source.getRepository(Team).save({ name: 'Red' }));

  const provider = (entity: new () => object, username = 'email') =>
    new TypeormUserProvider(new Database(source, 5000), entity, username);

  async function expectAsFindOneBy(entity: new () => object, id: unknown): Promise<void> {
    const read = await provider(entity).findById(String(id));
    expect(read).not.toBeNull();
    expect(read).toStrictEqual(await source.getRepository(entity).findOneBy({ id } as never));
  }

  it('does not contain a relation that is not eager', async () => {
    const inTeam = await source.getRepository(InTeam).save({ email: 'a', team: { id: 1 } as Team });
    const alone = await source.getRepository(InTeam).save({ email: 'b' });
    await expectAsFindOneBy(InTeam, inTeam.id);
    await expectAsFindOneBy(InTeam, alone.id);
  });

  it('loads its lazy relations on access', async () => {
    const lazy = source.getRepository(LazilyInTeam).create({ email: 'a' });
    lazy.team = Promise.resolve(await source.getRepository(Team).findOneByOrFail({ id: 1 }));
    await source.getRepository(LazilyInTeam).save(lazy);
    const read = (await provider(LazilyInTeam).findById(String(lazy.id))) as LazilyInTeam;
    expect(await read.team).toMatchObject({ name: 'Red' });
  });

  it('is found by the id in the form that the entity has', async () => {
    await source.getRepository(ByNumberedAlias).save({ id: 'usr_7', email: 'a' });
    await expectAsFindOneBy(ByNumberedAlias, 'usr_7');
  });

  it('is a separate, complete object for each of several concurrent requests for one user', async () => {
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

  it('is null for an identifier that its column cannot store', async () => {
    expect(await provider(Staff, 'staffNumber').findByIdentifier('ada')).toBeNull();
  });
});
