import { type StoredSecondFactor, addTwoFactorColumns, withAuthColumns, withTwoFactorColumns } from '@svc/auth';
import {
  AfterLoad,
  Column,
  DataSource,
  DeleteDateColumn,
  Entity,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
} from 'typeorm';
import { createEmptyDatabase } from '../../../../../test/support/stores/database';
import { Database } from '../../foundation/platform/database';
import { TypeormUserProvider } from '../../identity/users/typeorm-user-provider';
import { SecondFactorRows } from './second-factor.store';

@Entity({ name: 'Members', schema: 'crm' })
class Member extends withTwoFactorColumns(withAuthColumns()) {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' })
  id!: string;

  @DeleteDateColumn({ name: 'deleted_at', type: 'timestamptz' })
  deletedAt?: Date | null;

  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz' })
  updatedAt!: Date;

  /** Throws for a row without the email, so that an incomplete row fails the test. */
  @AfterLoad()
  capitalize(): void {
    this.email = this.email.toUpperCase();
  }
}

@Entity('own')
class Own extends withAuthColumns() {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column({ name: 'TotpSecret', type: 'varchar', nullable: true, select: false })
  twoFactorSecret?: string | null;

  @Column({ name: 'codes', type: 'text', nullable: true })
  twoFactorRecoveryCodes?: string | null;

  @Column({ name: 'since', type: 'timestamp', nullable: true })
  twoFactorConfirmedAt?: Date | null;
}

@Entity('plain')
class Plain extends withAuthColumns() {
  @PrimaryGeneratedColumn('uuid')
  id!: string;
}

const NONE: StoredSecondFactor = { secret: null, recoveryCodes: null, confirmedAt: null };
const PENDING: StoredSecondFactor = { secret: 's', recoveryCodes: '["a"]', confirmedAt: null };
const ENABLED: StoredSecondFactor = { ...PENDING, confirmedAt: new Date('2026-01-02T03:04:05.678Z') };

describe('the second factors of an entity`s users', () => {
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let source: DataSource;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    const entities = [Member, Own, Plain];
    source = await new DataSource({
      type: 'postgres',
      url: database.url,
      entities,
      // Second factors bypass the query cache of the host.
      cache: { alwaysEnabled: true, duration: 60_000 },
      installExtensions: false,
      uuidExtension: 'pgcrypto',
    }).initialize();
    await source.query('CREATE SCHEMA crm');
    await source.synchronize();
  });
  afterAll(async () => {
    await source.destroy();
    await database.drop();
  });

  const usersOf = (entity: new () => object) =>
    new TypeormUserProvider(new Database(source, 5000), entity, 'email', SecondFactorRows);
  const create = async (entity: new () => object, email: string): Promise<string> =>
    String(((await source.getRepository(entity).save({ email })) as unknown as { id: unknown }).id);

  it('belong to users who are also read from the database and not from the query cache, with a listener or without', async () => {
    for (const [entity, table] of [
      [Member, 'crm."Members"'],
      [Plain, 'plain'],
    ] as const) {
      const users = usersOf(entity);
      const id = await create(entity, 'cached@example.com');
      const read = async () => [await users.findById(id), await users.findByEmail('cached@example.com')];
      expect(await read()).toEqual([expect.any(entity), expect.any(entity)]);
      await source.query(`DELETE FROM ${table} WHERE id = $1`, [id]);
      expect(await read()).toEqual([null, null]);
    }
  });

  it.each([
    [Member, true],
    [Own, true],
    [Plain, false],
  ])('are stored in columns of %p: %s', (entity, stored) =>
    expect(usersOf(entity).offers('secondFactorOf')).toBe(stored),
  );

  it.each([[Member], [Own]])('of %p are replaced only if they still have the values that were read', async (entity) => {
    const users = usersOf(entity);
    const [id, other] = [await create(entity, 'ada@example.com'), await create(entity, 'bob@example.com')];
    expect(await users.secondFactorOf(id)).toEqual(NONE);
    expect(await users.replaceSecondFactor(id, NONE, PENDING)).toBe(true);
    for (const stale of [NONE, ENABLED, { ...PENDING, secret: 't' }, { ...PENDING, recoveryCodes: '[]' }]) {
      expect(await users.replaceSecondFactor(id, stale, NONE)).toBe(false);
    }
    expect(await users.replaceSecondFactor(id, PENDING, ENABLED)).toBe(true);
    expect(await users.secondFactorOf(id)).toEqual(ENABLED);
    expect(await users.replaceSecondFactor(id, PENDING, NONE)).toBe(false);
    expect(await users.secondFactorOf(other)).toEqual(NONE);
    expect(await users.replaceSecondFactor(id, ENABLED, NONE)).toBe(true);
    expect(await users.secondFactorOf(id)).toEqual(NONE);
  });

  it('are not found for a soft-deleted user', async () => {
    const [users, id] = [usersOf(Member), await create(Member, 'gone@example.com')];
    expect(await users.replaceSecondFactor(id, NONE, ENABLED)).toBe(true);
    await source.getRepository(Member).softDelete({ id });
    expect(await users.secondFactorOf(id)).toBeNull();
  });

  it('set the update date of the row when they change', async () => {
    const [users, id] = [usersOf(Member), await create(Member, 'stamped@example.com')];
    await source.query(`UPDATE crm."Members" SET updated_at = '2026-01-02' WHERE id = $1`, [id]);
    await users.replaceSecondFactor(id, NONE, PENDING);
    const rows = await source.query(`SELECT 1 FROM crm."Members" WHERE id = $1 AND updated_at > '2026-01-03'`, [id]);
    expect(rows).toHaveLength(1);
  });

  it('keep a date that the database stores with a higher precision than JavaScript', async () => {
    const [users, id] = [usersOf(Member), await create(Member, 'exact@example.com')];
    const table = 'crm."Members"';
    await source.query(
      `UPDATE ${table} SET two_factor_secret = 's', two_factor_confirmed_at = '2026-01-02 03:04:05.678901+00' WHERE id = $1`,
      [id],
    );
    const current = (await users.secondFactorOf(id))!;
    expect(await users.replaceSecondFactor(id, current, { ...current, recoveryCodes: '["b"]' })).toBe(true);
    const [row] = await source.query(`SELECT two_factor_confirmed_at::text AS at FROM ${table} WHERE id = $1`, [id]);
    expect(row.at).toMatch(/05\.678901/);
  });

  it('are replaced by only one of many concurrent changes of the same values', async () => {
    const [users, id] = [usersOf(Member), await create(Member, 'many@example.com')];
    for (let round = 0; round < 20; round++) {
      const current = (await users.secondFactorOf(id))!;
      const changes = Array.from({ length: 10 }, (_, i) =>
        users.replaceSecondFactor(id, current, { ...PENDING, secret: `${round}-${i}` }),
      );
      expect((await Promise.all(changes)).filter(Boolean)).toHaveLength(1);
    }
  });

  it.each(['', '0', 'x', '\0', "1' OR '1", ' 1', '01', '9'.repeat(40), '00000000-0000-0000-0000-000000000000'])(
    'of the unknown id %j do not exist and cannot be stored',
    async (id) => {
      for (const entity of [Member, Own]) {
        expect(await usersOf(entity).secondFactorOf(id)).toBeNull();
        expect(
          await usersOf(entity)
            .replaceSecondFactor(id, NONE, PENDING)
            .catch(() => false),
        ).toBe(false);
      }
    },
  );

  it('are not selected by default', async () => {
    const [users, id] = [usersOf(Member), await create(Member, 'hidden@example.com')];
    await users.replaceSecondFactor(id, NONE, ENABLED);
    const shown = [await users.findById(id), (await users.findByIdentifier('hidden@example.com'))!.user];
    for (const user of [...shown, await source.getRepository(Member).findOneBy({ id })]) {
      expect(JSON.stringify(user)).not.toMatch(/two_?factor|"s"/i);
    }
  });

  it('have columns that the migration adds, and that its reversal removes', async () => {
    const migration = new (addTwoFactorColumns('crm.legacy "x"', 1795000000001))();
    expect(migration.name).toMatch(/1795000000001$/);
    await source.query('CREATE TABLE crm."legacy ""x""" (id int)');
    const columns = async (): Promise<string[]> =>
      (
        await source.query(
          `SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'legacy "x"' ORDER BY 1`,
        )
      ).map(({ name }: { name: string }) => name);
    await migration.up(source.createQueryRunner());
    expect(await columns()).toEqual([
      'id',
      'two_factor_confirmed_at',
      'two_factor_recovery_codes',
      'two_factor_secret',
    ]);
    await migration.down(source.createQueryRunner());
    expect(await columns()).toEqual(['id']);
  });
});
