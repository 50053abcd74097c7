import { AuthConfigError } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { Column, DataSource, Entity, type ObjectLiteral, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { createEmptyDatabase } from '../../../../../test/support/stores/database';
import {
  ACCOUNTS,
  ByAlias,
  ByBigint,
  ByInt,
  ByName,
  ByUuid,
  Eager,
  Plain,
} from '../../../../../test/support/hosts/user-entity-variants';
import { Database } from '../../foundation/platform/database';
import { TypeormUserProvider } from './typeorm-user-provider';

type EntityClass = new () => ObjectLiteral;

const UUID = randomUUID();

class WithHandle {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @Column('text', { nullable: true })
  passwordHash?: string | null;
}

@Entity('by_citext')
class ByCitext extends WithHandle {
  @Column('citext', { unique: true })
  handle!: string;
}

@Entity('without_case')
class WithoutCase extends WithHandle {
  @Column({ type: 'text', unique: true, collation: 'without_case' })
  handle!: string;
}

@Entity('by_c')
class ByC extends WithHandle {
  @Column({ type: 'text', unique: true, collation: 'C' })
  handle!: string;
}

@Entity('by_key')
class ByKey {
  @PrimaryColumn('text')
  handle!: string;

  @Column('text', { nullable: true })
  passwordHash?: string | null;
}

/** Letters whose lower case depends on the language, the place in the word or the version of Unicode. */
const LETTERS = [
  'Σ',
  'σ',
  'ς',
  'ẞ',
  'ß',
  'ſ',
  's',
  'S',
  'İ',
  'i\u0307',
  'i',
  'I',
  'ı',
  'SS',
  'ss',
  'ΟΔΟΣ',
  'οδος',
  'οδοσ',
];

describe('the users of a TypeORM entity', () => {
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let source: DataSource;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    source = await new DataSource({
      type: 'postgres',
      url: database.url,
      entities: [...ACCOUNTS, ByCitext, WithoutCase, ByC, ByKey],
      installExtensions: false,
      uuidExtension: 'pgcrypto',
    }).initialize();
    await source.query('CREATE SCHEMA crm');
    await source.query('CREATE EXTENSION citext');
    await source.query(
      "CREATE COLLATION without_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
    );
    await source.synchronize();
  });
  afterAll(async () => {
    await source.destroy();
    await database.drop();
  });

  const usersOf = (entity: EntityClass, username = 'email') =>
    new TypeormUserProvider(new Database(source, 5000), entity, username);
  const create = async (entity: EntityClass, email: string, more: object = {}): Promise<ObjectLiteral> =>
    source.getRepository(entity).save({ email, passwordHash: 'digest', ...more } as ObjectLiteral);

  it.each<[string, EntityClass, object, string]>([
    ['a uuid', ByUuid, {}, 'string'],
    ['an int', ByInt, {}, 'number'],
    ['a bigint', ByBigint, {}, 'string'],
    ['a text', ByName, { id: ' ada/7 ' }, 'string'],
    ['an int without a prepared statement', Eager, {}, 'number'],
  ])('are found by %s, which is returned as text, and shown with its own type', async (_, entity, more, shown) => {
    const users = usersOf(entity);
    const { id } = await create(entity, 'ada@example.com', more);
    const user = await users.findById(String(id));
    expect(user).toBeInstanceOf(entity);
    expect(user).toMatchObject({ id, email: 'ada@example.com' });
    expect(users.idOf(user!)).toBe(String(id));
    expect(users.publicIdOf(user!)).toBe(id);
    expect(typeof users.publicIdOf(user!)).toBe(shown);
  });

  it('are not locked by a statement of a role that may only read them, or that policies of rows restrict', async () => {
    const locksAs = async (...grants: string[]): Promise<boolean> => {
      const runner = source.createQueryRunner();
      await runner.startTransaction();
      try {
        await runner.query('CREATE ROLE svc_reader');
        for (const grant of ['SELECT', ...grants]) await runner.query(`GRANT ${grant} ON by_uuid TO svc_reader`);
        await runner.query('SET LOCAL ROLE svc_reader');
        const users = usersOf(ByUuid);
        await users.readLocks((text, values) => runner.query(text, values));
        const exists = users.existsLockedSql('$1');
        if (exists) await runner.query(`SELECT ${exists}`, [UUID]);
        return exists !== null;
      } finally {
        await runner.rollbackTransaction();
        await runner.release();
      }
    };
    expect(await locksAs()).toBe(false);
    expect(await locksAs('UPDATE (email)')).toBe(true);
    await source.query('ALTER TABLE by_uuid ENABLE ROW LEVEL SECURITY');
    expect(await locksAs('UPDATE')).toBe(false);
    await source.query('ALTER TABLE by_uuid DISABLE ROW LEVEL SECURITY');
  });

  it.each([2 ** 53, 1.5, NaN, 7n])('show the id %p as text, because JSON would change it', (id) => {
    expect(usersOf(ByInt).publicIdOf({ id })).toBe(String(id));
  });

  it('are distinguished by bigint ids beyond the safe integers', async () => {
    const users = usersOf(ByBigint);
    await source.query(
      "INSERT INTO by_bigint (id, email) OVERRIDING SYSTEM VALUE VALUES (9007199254740993, 'big@x.test')",
    );
    expect(await users.findById('9007199254740993')).toMatchObject({ id: '9007199254740993' });
    expect(await users.findById('9007199254740992')).toBeNull();
  });

  it.each<[string, EntityClass]>([
    ['by a statement', ByUuid],
    ['by a query', Eager],
  ])('have no empty id, whose user and hash are read %s without an error of PostgreSQL', async (_, entity) => {
    const failed = jest.spyOn(source.logger, 'logQueryError');
    expect(await usersOf(entity).findById('')).toBeNull();
    expect(await usersOf(entity).passwordHashOf('')).toBeNull();
    expect(failed).not.toHaveBeenCalled();
  });

  const invalidIds = [
    '',
    ' ',
    '0',
    '-1',
    '1.5',
    '1e0',
    'abc',
    'null',
    'NaN',
    '1 OR 1=1',
    "1'; DROP TABLE by_int; --",
    '99999999999999999999999999',
    '2147483648',
    '9223372036854775808',
    '1\0',
    '\0',
    '\ud800',
    '🔑',
    '[object Object]',
    '{1}',
    'x'.repeat(100_000),
    randomUUID(),
    `${randomUUID()}0`,
    '00000000-0000-0000-0000-000000000000',
  ];
  it.each<[string, EntityClass]>([
    ['a uuid', ByUuid],
    ['an int', ByInt],
    ['a bigint', ByBigint],
    ['a text', ByName],
    ['an int without a prepared statement', Eager],
  ])('with %s as id are not found by invalid ids', async (_, entity) => {
    const users = usersOf(entity);
    for (const id of invalidIds) expect([id.slice(0, 40), await users.findById(id)]).toEqual([id.slice(0, 40), null]);
  });

  it.each<[string, EntityClass, (id: string) => string[]]>([
    [
      'an int',
      ByInt,
      (id) => [`0${id}`, ` ${id}`, `${id} `, `+${id}`, `${id}.0`, `\t${id}`, `0x${(+id).toString(16)}`],
    ],
    ['a bigint', ByBigint, (id) => [`0${id}`, ` ${id}`, `${id}\n`, `0b${(+id).toString(2)}`]],
    ['an int without a prepared statement', Eager, (id) => [`0${id}`, ` ${id}`, `+${id}`]],
    ['a uuid', ByUuid, (id) => [id.toUpperCase(), `{${id}}`, id.replaceAll('-', ''), ` ${id}`]],
    ['a text', ByName, (id) => [id.toUpperCase(), ` ${id}`, `${id} `]],
  ])('are found by only one spelling of %s', async (_, entity, spellings) => {
    const users = usersOf(entity);
    const { id } = await create(entity, 'spelled@example.com', entity === ByName ? { id: 'spelled' } : {});
    expect(await users.findById(String(id))).not.toBeNull();
    for (const other of spellings(String(id))) expect([other, await users.findById(other)]).toEqual([other, null]);
  });

  it('cause an error when they cannot be read, and are never reported as unknown', async () => {
    const closed = await new DataSource({ ...source.options } as never).initialize();
    const users = new TypeormUserProvider(new Database(closed, 5000), ByInt, 'email');
    await closed.destroy();
    await expect(users.findById('1')).rejects.toThrow();
    await expect(users.findByIdentifier('ada@example.com')).rejects.toThrow();
    await source.query('ALTER TABLE by_name RENAME TO elsewhere');
    await expect(usersOf(ByName).findById('ada')).rejects.toThrow(/does not exist/);
    await source.query('ALTER TABLE elsewhere RENAME TO by_name');
  });

  it('are found by their email in any case and with spaces around it', async () => {
    const users = usersOf(ByInt);
    const { id } = await create(ByInt, '  Grace@Example.COM ');
    for (const identifier of ['grace@example.com', 'GRACE@example.com', ' Grace@Example.com\t']) {
      expect((await users.findByIdentifier(identifier))?.user).toMatchObject({ id, email: 'grace@example.com' });
    }
    await expect(create(ByInt, 'GRACE@EXAMPLE.COM')).rejects.toThrow(/duplicate key/);
  });

  it('are found by the exact spelling of an identifier other than the email', async () => {
    const users = usersOf(Plain, 'handle');
    await source.getRepository(Plain).save([{ handle: 'Ada' }, { handle: 'ada' }]);
    expect((await users.findByIdentifier('Ada'))?.user).toMatchObject({ handle: 'Ada' });
    expect((await users.findByIdentifier('ada'))?.user).toMatchObject({ handle: 'ada' });
    for (const other of ['ADA', ' Ada', 'Ad', 'Ad_', '%', '']) expect(await users.findByIdentifier(other)).toBeNull();
  });

  it('are found by one spelling of an identifier that is not a text', async () => {
    const users = usersOf(ByInt, 'id');
    const { id } = await create(ByInt, 'badge@example.com');
    expect((await users.findByIdentifier(String(id)))?.user).toMatchObject({ id });
    for (const spelling of [`0${id}`, `00${id}`, `+${id}`]) expect(await users.findByIdentifier(spelling)).toBeNull();

    const byUuid = usersOf(ByUuid, 'id');
    const { id: uuid } = await create(ByUuid, 'uuid@example.com');
    for (const spelling of [uuid, uuid.toUpperCase()]) expect(await byUuid.findByIdentifier(spelling)).not.toBeNull();
    for (const spelling of [`{${uuid}}`, uuid.replaceAll('-', '')])
      expect(await byUuid.findByIdentifier(spelling)).toBeNull();
  });

  it.each<[string, EntityClass, string, readonly string[]]>([
    [
      'an email',
      ByInt,
      'email',
      ['ada@x', 'ADA@x', 'a\u0131k@x', 'AIK@x', 'ai\u212a@x', '\u0410da@x', ...LETTERS.map((letter) => `${letter}@x`)],
    ],
    ['a handle', Plain, 'handle', ['ada', 'ADA', 'Ada', 'k', 'K', '\u212a', 'a\u200bda', ...LETTERS]],
    ['a text with the collation C', ByC, 'handle', ['ada', 'ADA', 'Ada', ...LETTERS]],
    ['a text with a collation that ignores case', WithoutCase, 'handle', ['ada', 'ADA', 'Ada', 'bob', 'é', 'É', 'e']],
    ['a text with a transformer', ByAlias, 'id', ['usr_ada', 'ada', 'ADA', 'usr_ADA', 'usr_usr_ada']],
    ['a uuid', ByUuid, 'id', [UUID, UUID.toUpperCase(), `{${UUID}}`, UUID.replaceAll('-', ''), randomUUID()]],
  ])(
    'have %s whose compared form is that of the look-up, for every pair of spellings',
    async (_, entity, username, all) => {
      const users = usersOf(entity, username);
      for (const given of all) {
        await source.query(`DELETE FROM ${source.getRepository(entity).metadata.tableName}`);
        const row = { passwordHash: 'digest', ...(username === 'handle' ? {} : { email: 'x@x' }), [username]: given };
        await source.getRepository(entity).insert(row as ObjectLiteral);
        // PostgreSQL may store another spelling, for example of a uuid.
        const [{ [username]: stored }] = (await source.getRepository(entity).find()) as [ObjectLiteral];
        for (const tried of all) {
          const isFound = (await users.findByIdentifier(tried)) !== null;
          const isEqual = users.comparedForm(tried) === users.comparedForm(stored);
          expect([stored, tried, isEqual]).toEqual([stored, tried, isFound]);
        }
      }
    },
  );

  it('have a row that no statement changes when a creation is imitated, whose commit is written to the log', async () => {
    const { id } = await create(ByInt, 'imitated@example.com');
    const version = async () => (await source.query('SELECT xmin, ctid, xmax FROM by_int WHERE id = $1', [id]))[0];
    const before = await version();
    const sent = jest.spyOn(source.logger, 'logQuery');
    await usersOf(ByInt).imitateCreation(String(id));
    expect(await version()).toEqual(before);
    const [statement] = sent.mock.calls[0]!;
    const assigned = await source.transaction(async (manager) => {
      await manager.query(statement);
      return manager.query('SELECT pg_current_xact_id_if_assigned() IS NOT NULL AS assigned');
    });
    // A transaction with an id writes its commit to the log of the database.
    expect(assigned).toEqual([{ assigned: true }]);
  });

  it('have a citext whose compared form is that of the look-up, for letters whose lower case is that of the database', async () => {
    const users = usersOf(ByCitext, 'handle');
    const all = ['ada', 'ADA', 'Ada', 'k', 'K', '\u212a', ...LETTERS];
    const inDatabase = async (text: string) => (await source.query('SELECT lower($1) AS lower', [text]))[0].lower;
    const same: string[] = [];
    for (const text of all) if ((await inDatabase(text)) === text.toLowerCase()) same.push(text);
    // The locale of the database decides about other letters. These have one lower case everywhere.
    expect(same).toEqual(expect.arrayContaining(['ADA', 'K', 'S', 'I', 'SS', 'σ', 'ς', 'ß', 'ſ', 'ı']));
    for (const stored of same) {
      await source.query('DELETE FROM by_citext');
      await source.getRepository(ByCitext).insert({ handle: stored, passwordHash: 'digest' });
      for (const tried of same) {
        const isFound = (await users.findByIdentifier(tried)) !== null;
        const isEqual = users.comparedForm(tried) === users.comparedForm(stored);
        expect([stored, tried, isEqual]).toEqual([stored, tried, isFound]);
      }
    }
  });

  it('have a password hash that is found only by the exact spelling of the id', async () => {
    const users = usersOf(ByInt);
    const { id } = await create(ByInt, 'by-id@example.com');
    expect(await users.passwordHashOf(String(id))).toBe('digest');
    for (const other of [`0${id}`, '-1', 'x', '', 'a\0b']) expect(await users.passwordHashOf(other)).toBeNull();
  });

  it('are not found by an unknown or invalid identifier', async () => {
    const unknownIdentifiers = ['', 'unknown@example.com', 'a\0b', '\ud800', "' OR 1=1 --", '%', 'x'.repeat(100_000)];
    for (const identifier of unknownIdentifiers) expect(await usersOf(ByInt).findByIdentifier(identifier)).toBeNull();
  });

  it('are returned with their hash at login, and the entity does not contain the hash', async () => {
    await create(ByInt, 'hashed@example.com');
    await create(ByInt, 'keyless@example.com', { passwordHash: null });
    await source.getRepository(Plain).save({ handle: 'hashed', passwordHash: 'digest' });
    for (const [users, identifier, hash] of [
      [usersOf(ByInt), 'hashed@example.com', 'digest'],
      [usersOf(ByInt), 'keyless@example.com', null],
      [usersOf(Plain, 'handle'), 'hashed', 'digest'],
    ] as const) {
      const found = await users.findByIdentifier(identifier);
      expect(found?.passwordHash).toBe(hash);
      expect(found?.user).not.toHaveProperty('passwordHash');
    }
    const { user } = (await usersOf(ByInt).findByIdentifier('hashed@example.com'))!;
    expect(await usersOf(ByInt).findById(String(user.id))).not.toHaveProperty('passwordHash');
  });

  it('are returned with their eager relations at login', async () => {
    const [{ id: team }] = await source.query("INSERT INTO teams (name) VALUES ('Red') RETURNING id");
    await create(Eager, 'eager@example.com', { team: { id: team } });
    expect((await usersOf(Eager).findByIdentifier('eager@example.com'))?.user).toMatchObject({ team: { name: 'Red' } });
  });

  it('receive a new hash unless a newer one was stored', async () => {
    const users = usersOf(ByInt);
    const { id } = await create(ByInt, 'renewed@example.com', { passwordHash: 'old' });
    const { id: other } = await create(ByInt, 'untouched@example.com', { passwordHash: 'old' });
    const hash = async (email: string) => (await users.findByIdentifier(email))?.passwordHash;

    await users.savePasswordHash(String(id), 'renewed', 'old');
    expect(await hash('renewed@example.com')).toBe('renewed');
    await users.savePasswordHash(String(id), 'stale renewal', 'old');
    expect(await hash('renewed@example.com')).toBe('renewed');
    await users.savePasswordHash(String(id), 'changed');
    expect(await hash('renewed@example.com')).toBe('changed');
    expect(await hash('untouched@example.com')).toBe('old');
    expect((await source.getRepository(ByInt).findOneBy({ id: other }))?.email).toBe('untouched@example.com');
  });

  it('are not changed by the creation of an account whose identifier is their primary key', async () => {
    const users = usersOf(ByKey, 'handle');
    expect(await users.create({ identifier: 'key', passwordHash: 'digest', name: '' })).toMatchObject({
      handle: 'key',
    });
    expect(await users.create({ identifier: 'key', passwordHash: 'stolen', name: '' })).toBeNull();
    expect((await users.findByIdentifier('key'))?.passwordHash).toBe('digest');
  });

  it('need an entity of this data source with the required columns, and the error contains the correction', () => {
    class Stranger {}
    expect(() => usersOf(Stranger)).toThrow(AuthConfigError);
    expect(() => usersOf(Stranger)).toThrow(/Stranger is not an entity of this data source\. Add it to the entities/);
    expect(() => usersOf(ByInt, 'login')).toThrow(/ByInt has no column "login".*SVC_USERNAME/);
    expect(() => usersOf(Plain)).toThrow(/Plain has no column "email"\. Extend withAuthColumns\(\)/);
  });

  it('are reported by present(), which returns null if the table stores transformed ids', async () => {
    const { id } = await create(ByName, 'there@example.com', { id: 'there' });
    expect(await usersOf(ByName).existingIds([id, 'gone'])).toEqual(new Set(['there']));
    const aliased = await create(ByAlias, 'there@example.com', { id: 'usr_there' });
    const users = usersOf(ByAlias);
    expect(await users.findById(aliased.id)).toMatchObject({ id: 'usr_there' });
    // Pruning deletes the rows of users that do not exist.
    expect(await users.existingIds(['usr_there', 'usr_gone'])).toBeNull();
  });
});
