import { type StoredSecondFactor, UserProvider } from '@svc/auth';
import { type ContractAccount, type UserProviderContract, userProviderContract } from '@svc/auth/testing';
import type { DataSource } from 'typeorm';
import { Database } from '../../foundation/platform/database';
import { Realms } from '../../foundation/realm/realm';
import { TypeormUserProvider } from '../../identity/users/typeorm-user-provider';
import { TestApp } from '../../../../../test/support/app';
import { dataSourceOf } from '../../../../../test/support/database';
import { ACCOUNT_MISTAKES } from '../../../../../test/support/provider-account-mistakes';
import { CREDENTIAL_MISTAKES, cached } from '../../../../../test/support/provider-mistakes';
import { Member } from '../../../../../test/support/user-entities';

const MISTAKES = { ...CREDENTIAL_MISTAKES, ...ACCOUNT_MISTAKES };

/** A provider with a mistake. */
const withMistake = (real: UserProvider, members: object): UserProvider =>
  new Proxy(real, {
    get: (target, name) => {
      if (name in members) return members[name as never];
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

describe('the contract of a user provider', () => {
  const t = TestApp.forFile({ options: { users: { entity: Member } } });
  let closed: DataSource;

  beforeAll(async () => {
    closed = await dataSourceOf(t.databaseUrl).initialize();
    await closed.destroy();
  });

  const real = (): UserProvider => t.app.get(Realms).default.get(UserProvider as never);
  const unreachable = (): UserProvider => new TypeormUserProvider(new Database(closed, 3000), Member, 'email');
  const contract: UserProviderContract = {
    app: () => t.app,
    insert: async ({ identifier, passwordHash, name }) =>
      (await t.database.getRepository(Member).save({ email: identifier, passwordHash, name })).id,
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
      const broken = (provider: UserProvider) => withMistake(provider, mistake(provider, t.database));
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

  it('does not check what a provider does not have', async () => {
    const insert: UserProviderContract['insert'] = async ({ identifier, passwordHash }) => {
      const sql = 'INSERT INTO operators (email, password_hash) VALUES ($1, $2) RETURNING id';
      return String((await t.database.query(sql, [identifier, passwordHash]))[0].id);
    };
    const missing: string[] = [];
    for (const check of userProviderContract({ ...contract, guard: 'admin', insert })) {
      if ((await check.run()) === 'not implemented') missing.push(check.name.split(' ')[0]!);
    }
    expect([...new Set(missing)]).toEqual(['create', 'wasCreatedSince', 'markEmailVerified', 'delete']);
  });

  it('needs an application or a provider, and a way to insert users', async () => {
    const [first] = userProviderContract({});
    await expect(first!.run()).rejects.toThrow('userProviderContract needs app or provider.');
    const [ofOperators] = userProviderContract({ app: () => t.app, guard: 'admin' });
    await expect(ofOperators!.run()).rejects.toThrow('userProviderContract needs insert');
  });
});
