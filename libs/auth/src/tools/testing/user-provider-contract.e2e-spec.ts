import { type StoredSecondFactor, UserProvider } from '@svc/auth';
import { type ContractAccount, type UserProviderContract, userProviderContract } from '@svc/auth/testing';
import type { DataSource } from 'typeorm';
import { batchPerTick } from '../../foundation/platform/batching';
import { Database } from '../../foundation/platform/database';
import { Realms } from '../../foundation/realm/realm';
import { SecondFactorRows } from '../../features/two-factor/second-factor.store';
import { TypeormUserProvider } from '../../identity/users/typeorm-user-provider';
import { TestApp } from '../../../../../test/support/hosts/app';
import { dataSourceOf } from '../../../../../test/support/stores/database';
import { ACCOUNT_MISTAKES } from '../../../../../test/support/faults/provider-account-mistakes';
import {
  CREDENTIAL_MISTAKES,
  cached,
  comparesInSubquery,
  trueForIds,
} from '../../../../../test/support/faults/provider-mistakes';
import { Member, VerifiablePerson } from '../../../../../test/support/hosts/user-entities';

const MISTAKES = { ...CREDENTIAL_MISTAKES, ...ACCOUNT_MISTAKES };

/** A provider with a mistake. */
const withMistake = (real: UserProvider, members: object): Required<UserProvider> =>
  new Proxy(real as Required<UserProvider>, {
    get: (target, name) => {
      if (name in members) return members[name as never];
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

describe('the contract of a user provider', () => {
  const t = TestApp.forFile({ options: { users: { entity: Member } }, entities: [VerifiablePerson] });
  let closed: DataSource;

  beforeAll(async () => {
    closed = await dataSourceOf(t.databaseUrl).initialize();
    await closed.destroy();
  });

  const real = (): Required<UserProvider> => t.app.get(Realms).default.get(UserProvider as never);
  const unreachable = (): Required<UserProvider> =>
    new TypeormUserProvider(new Database(closed, 3000), Member, 'email', SecondFactorRows);
  type Row = { email: string; password_hash: string | null; name?: string };
  /** Inserts the users of concurrent calls with one statement: one of the checks adds a thousand. */
  const insertInto = (table: string, ...columns: (keyof Row)[]): ((row: Row) => Promise<string>) =>
    batchPerTick<string, Row>(async (rows) => {
      const sql = `INSERT INTO ${table} (${columns.join()})
                   SELECT ${columns.join()} FROM json_populate_recordset(NULL::${table}, $1) RETURNING id, email`;
      const stored: { id: unknown; email: string }[] = await t.database.query(sql, [JSON.stringify(rows)]);
      const ids = new Map(stored.map(({ id, email }) => [email, String(id)]));
      return rows.map(({ email }) => ids.get(email)!);
    });
  const insertMember = insertInto('members', 'email', 'password_hash', 'name');
  const insertPerson = insertInto('people', 'email', 'password_hash');
  const insertOperator = insertInto('operators', 'email', 'password_hash');
  const contract: UserProviderContract = {
    app: () => t.app,
    insert: ({ identifier, passwordHash, name }) =>
      insertMember({ email: identifier, password_hash: passwordHash, name }),
    unreachable,
  };
  const run = (name: string, more: UserProviderContract = {}) =>
    userProviderContract({ ...contract, ...more })
      .find((check) => check.name === name)!
      .run();

  it('has a mistake for each of its checks', () => {
    expect(userProviderContract(contract).map(({ name }) => name)).toEqual(Object.keys(MISTAKES));
  });

  describe.each(Object.keys(MISTAKES))('%s', (name) => {
    it('is true for the provider of an entity', async () => expect(await run(name)).toBe('kept'));

    it.each(Object.entries(MISTAKES[name]!))('is not true for a provider that %s', async (_, mistake) => {
      const broken = (provider: Required<UserProvider>) => withMistake(provider, mistake(provider, t.database));
      const more = { provider: () => broken(real()), unreachable: () => broken(unreachable()) };
      await expect(run(name, more)).rejects.toThrow(expect.objectContaining({ code: 'ERR_ASSERTION' }));
    });
  });

  it('has no check of what it cannot do without `insert` and `unreachable`', () => {
    const names = (more: UserProviderContract) => userProviderContract(more).map(({ name }) => name);
    const left = (member: 'insert' | 'unreachable') => names({ ...contract, [member]: undefined });
    const all = names(contract);
    expect(all.filter((name) => !left('insert').includes(name))).toEqual([
      'a user without a password has the hash null, and `replacing` = null stores its first one',
    ]);
    expect(all.filter((name) => !left('unreachable').includes(name))).toEqual([
      'every look-up and every write throws while the store does not answer',
    ]);
  });

  it('stores no user without a password where there are none', async () => {
    const insert = async (account: ContractAccount) => {
      if (account.passwordHash === null) throw new Error('null value in column "password_hash"');
      return contract.insert!(account);
    };
    const name = 'a user without a password has the hash null, and `replacing` = null stores its first one';
    await expect(run(name, { insert })).rejects.toThrow('null value');
    expect(await run(name, { insert, usersWithoutPassword: false })).toBe('not implemented');
  });

  it('looks ids in capitals up in small letters, too', async () => {
    const inCapitals = withMistake(real(), {
      idOf: (user: object) => real().idOf(user).toUpperCase(),
      findById: (id: string) => real().findById(id.toLowerCase()),
    });
    const insert = async (account: ContractAccount) => (await contract.insert!(account)).toUpperCase();
    const checked = run('findById returns no user for any other text or value', { insert, provider: () => inCapitals });
    await expect(checked).rejects.toThrow(/findById\('[0-9a-f-]{36}'\) returned/);
  });

  it('finds a cache that is emptied by its own writes with `another` provider', async () => {
    const cachedUntilWritten = (): UserProvider => {
      const provider = real();
      const read = () => cached((id) => provider.findById(id));
      let findById = read();
      return withMistake(provider, {
        findById: (id: string) => findById(id),
        delete: async (id: string, manager: never) => {
          const isDeleted = await provider.delete(id, manager);
          findById = read();
          return isDeleted;
        },
      });
    };
    const name = 'delete removes the user from every look-up';
    const [provider, another] = [cachedUntilWritten(), cachedUntilWritten()];
    expect(await run(name, { provider: () => provider })).toBe('kept');
    await expect(run(name, { provider: () => provider, another: () => another })).rejects.toThrow(
      'findById finds the deleted user',
    );
  });

  it.each<[string, (keyof UserProvider)[]]>([
    ['look-ups and writes', ['findById', 'savePasswordHash', 'replaceSecondFactor', 'markEmailVerified', 'delete']],
    ['writes', ['savePasswordHash', 'replaceSecondFactor', 'markEmailVerified', 'delete']],
    ['look-ups and `delete`', ['findById', 'delete']],
  ])('keeps other users if undefined is no condition for the %s of a provider', async (_, methods) => {
    const { id } = await t.database.getRepository(Member).save({ email: 'eve@example.com', name: 'Eve' });
    const stored = () => t.database.query('SELECT * FROM members WHERE id = $1', [id]);
    const before = await stored();
    // The statements of a provider that leaves an undefined id out of its conditions.
    const update = async (set: string, where: string, values: unknown[]) => {
      const [, count] = await t.database.query(`UPDATE members SET ${set} WHERE ${where}`, values);
      return count > 0;
    };
    const lax: Partial<Record<keyof UserProvider, (id: unknown, ...values: never[]) => Promise<unknown>>> = {
      findById: () => t.database.getRepository(Member).findOneByOrFail({}),
      savePasswordHash: (_id, hash: string, replacing?: string | null) =>
        update('password_hash = $1', '$2 OR password_hash = $3', [hash, replacing === undefined, replacing]),
      replaceSecondFactor: (_id, current: StoredSecondFactor, next: StoredSecondFactor) =>
        update('two_factor_secret = $1', 'two_factor_secret IS NOT DISTINCT FROM $2', [next.secret, current.secret]),
      markEmailVerified: (_id, email: string, at: Date) => update('email_verified_at = $2', 'email = $1', [email, at]),
      delete: () => t.database.query('DELETE FROM members').then(() => true),
    };
    const of =
      (name: keyof UserProvider) =>
      (given: unknown, ...values: never[]) =>
        given === undefined
          ? lax[name]!(given, ...values)
          : (real()[name] as (...all: unknown[]) => unknown)(given, ...values);
    const provider = withMistake(real(), Object.fromEntries(methods.map((name) => [name, of(name)])));
    const broken: string[] = [];
    for (const check of userProviderContract({ ...contract, provider: () => provider }))
      await check.run().catch(() => broken.push(check.name));
    expect(broken).toContain('delete returns false for a user that does not exist, and deletes no other');
    expect(await stored()).toEqual(before);
    await t.database.getRepository(Member).delete(id);
  });

  describe('with numeric ids', () => {
    const ABSENCE = 'a write by the id of no user returns false and stores nothing, also if it has the form of an id';
    const people = (): Required<UserProvider> =>
      new TypeormUserProvider(
        t.app.get(Database),
        VerifiablePerson,
        'email',
        SecondFactorRows,
      ) as Required<UserProvider>;
    const insert: UserProviderContract['insert'] = ({ identifier, passwordHash }) =>
      insertPerson({ email: identifier, password_hash: passwordHash });

    it('is kept by the provider of an entity', async () => {
      const kept: unknown[] = [];
      for (const check of userProviderContract({ ...contract, insert, provider: people, unreachable: undefined }))
        kept.push(await check.run());
      expect(new Set(kept)).toEqual(new Set(['kept', 'not implemented']));
    });

    it.each(['savePasswordHash', 'replaceSecondFactor', 'markEmailVerified'] as const)(
      'finds that %s returns true for the id of a deleted user, or for `absentId`',
      async (method) => {
        const provider = () => withMistake(people(), trueForIds(method)(people(), t.database));
        // The ids that are invalid in every store do not find it.
        expect(await run(`${method} changes nothing for an id that no user has`, { insert, provider })).toBe('kept');
        await expect(run(ABSENCE, { insert, provider })).rejects.toThrow(`${method}`);
        const keeping = () =>
          withMistake(provider(), { offers: (name: never) => name !== 'delete' && people().offers(name) });
        expect(await run(ABSENCE, { insert, provider: keeping })).toBe('not implemented');
        const absentId = () => '2147483647';
        await expect(run(ABSENCE, { insert, provider: keeping, absentId })).rejects.toThrow(/for the id '2147483647'/);
      },
    );
  });

  it('does not roll a deletion back for users in another database', async () => {
    const name = 'delete is undone if its transaction is rolled back';
    const elsewhere = () =>
      withMistake(real(), ACCOUNT_MISTAKES[name]!['deletes on another connection']!(real(), t.database));
    expect(await run(name, { provider: elsewhere, deletesInTransaction: false })).toBe('not implemented');
    const race = 'savePasswordHash lets one of concurrent calls with the same `replacing` succeed';
    expect(await run(race, { provider: elsewhere, deletesInTransaction: false })).toBe('kept');
    await expect(run(race, { provider: elsewhere })).rejects.toThrow('set deletesInTransaction: false');
  });

  it('finds a statement that compares in a subquery each time, while a deletion holds the row', async () => {
    const race = 'savePasswordHash lets one of concurrent calls with the same `replacing` succeed';
    const provider = () => withMistake(real(), comparesInSubquery(real(), t.database));
    for (let times = 0; times < 5; times++)
      await expect(run(race, { provider })).rejects.toThrow(/^[2-8] of 8 concurrent calls succeeded/);
  });

  it('reads the name with `nameOf`, by default from the member `name`', async () => {
    const name = 'create stores the account and returns its user';
    const hidden = (members: object = {}) =>
      withMistake(real(), {
        ...members,
        findByIdentifier: async (text: string) => {
          const found = await real().findByIdentifier(text);
          return found && { ...found, user: Object.assign(found.user, { name: undefined }) };
        },
      });
    const unnamed = () => hidden({ create: (account: object) => real().create({ ...account, name: '' } as never) });
    const nameOf = async (user: object) =>
      (await t.database.query('SELECT name FROM members WHERE id = $1', [real().idOf(user)]))[0].name;
    expect(await run(name, { provider: unnamed })).toBe('kept');
    await expect(run(name, { provider: unnamed, nameOf })).rejects.toThrow('create has not stored the name');
    expect(await run(name, { provider: () => hidden(), nameOf })).toBe('kept');
  });

  it('does not check what a provider does not have', async () => {
    const insert: UserProviderContract['insert'] = ({ identifier, passwordHash }) =>
      insertOperator({ email: identifier, password_hash: passwordHash });
    const missing: string[] = [];
    for (const check of userProviderContract({ ...contract, guard: 'admin', insert })) {
      if ((await check.run()) === 'not implemented') missing.push(check.name.split(' ')[0]!);
    }
    expect([...new Set(missing)]).toEqual(['create', 'wasCreatedSince', 'markEmailVerified', 'delete']);
  });

  it('takes a port of two methods of which one is missing as not implemented', async () => {
    const half = new (class extends UserProvider {
      findById = (id: string) => real().findById(id);
      findByIdentifier = (identifier: string) => real().findByIdentifier(identifier);
      passwordHashOf = (id: string) => real().passwordHashOf(id);
      savePasswordHash = (id: string, ...values: [string, string?]) => real().savePasswordHash(id, ...values);
      idOf = (user: object) => real().idOf(user);
      override secondFactorOf = (id: string) => real().secondFactorOf(id);
      override wasCreatedSince = (id: string, mark: string) => real().wasCreatedSince(id, mark);
      override markEmailVerified = (id: string, email: string, at: Date) => real().markEmailVerified(id, email, at);
    })();
    const missing: string[] = [];
    for (const check of userProviderContract({ ...contract, provider: () => half }))
      if ((await check.run().catch(() => 'broken')) === 'not implemented') missing.push(check.name.split(' ')[0]!);
    expect(missing).toEqual(expect.arrayContaining(['secondFactorOf', 'replaceSecondFactor', 'wasCreatedSince']));
    expect(missing).not.toContain('markEmailVerified');
  });

  it('needs an application or a provider, and a way to insert users', async () => {
    const [first] = userProviderContract({});
    await expect(first!.run()).rejects.toThrow('userProviderContract needs app or provider.');
    const [ofOperators] = userProviderContract({ app: () => t.app, guard: 'admin' });
    await expect(ofOperators!.run()).rejects.toThrow('userProviderContract needs insert');
  });
});
