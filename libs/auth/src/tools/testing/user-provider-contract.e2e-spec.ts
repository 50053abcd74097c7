import { type StoredSecondFactor, UserProvider } from '@svc/auth';
import { type ContractAccount, type UserProviderContract, userProviderContract } from '@svc/auth/testing';
import type { DataSource } from 'typeorm';
import { Database } from '../../foundation/platform/database';
import { Realms } from '../../foundation/realm/realm';
import { TypeormUserProvider } from '../../identity/users/typeorm-user-provider';
import { TestApp } from '../../../../../test/support/app';
import { dataSourceOf } from '../../../../../test/support/database';
import { Member } from '../../../../../test/support/user-entities';

/** Returns members of a provider that replace the correct ones. */
type Mistake = (real: UserProvider, source: DataSource) => Partial<Record<keyof UserProvider, unknown>>;

const userOf = (found: { user: object } | null): object | null => found?.user ?? null;
const sameFactor = (a: StoredSecondFactor, b: StoredSecondFactor): boolean =>
  a.secret === b.secret && a.recoveryCodes === b.recoveryCodes && !a.confirmedAt === !b.confirmedAt;

/** `current` as it is stored in one field, so that a difference in this field is not seen. */
const blindTo =
  (field: keyof StoredSecondFactor): Mistake =>
  (real) => ({
    replaceSecondFactor: async (id: string, current: StoredSecondFactor, next: StoredSecondFactor) => {
      const stored = await real.secondFactorOf(id);
      return real.replaceSecondFactor(id, { ...current, [field]: stored?.[field] ?? null }, next);
    },
  });

/** The look-up of `ILIKE`, whose argument is a pattern. */
const byPattern = async (source: DataSource, text: string): Promise<string | undefined> =>
  (await source.query('SELECT email FROM members WHERE email ILIKE $1', [text.trim().replaceAll('\0', '')]))[0]?.email;

/** A look-up with a cache, which no write empties. */
function cached<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return async (key) => structuredClone(await (known.get(key) ?? known.set(key, read(key)).get(key)!));
}

/** Mistakes that hosts make, by the check that finds them. */
const MISTAKES: Record<string, Record<string, Mistake>> = {
  'findById returns the user with the id': {
    'finds no user': () => ({ findById: async () => null }),
    'has another id in tokens': () => ({ idOf: () => 'x' }),
  },
  'findById returns no user for any other text or value': {
    'trims the id': (real) => ({ findById: async (id: string) => real.findById(id.trim()) }),
    'fails for a text that is no id': (real, source) => ({
      findById: async (id: unknown) => {
        if (typeof id === 'string') await source.query('SELECT $1::uuid', [id]);
        return real.findById(id as string);
      },
    }),
    'takes undefined as no condition': (real, source) => ({
      findById: async (id: unknown) =>
        id === undefined ? source.getRepository(Member).findOneBy({}) : real.findById(id as string),
    }),
  },
  'findById returns a new object for each call': {
    'keeps users in memory': (real) => {
      const known = new Map<string, Promise<object | null>>();
      return { findById: (id: string) => known.get(id) ?? known.set(id, real.findById(id)).get(id) };
    },
  },
  'findByIdentifier returns the user with its password hash': {
    'returns the user alone': (real) => ({
      findByIdentifier: async (text: string) => ({ user: userOf(await real.findByIdentifier(text)) }),
    }),
  },
  'findByIdentifier finds a user exactly by the spellings that have one comparedForm': {
    'compares to the letter': (real) => ({
      findByIdentifier: async (text: string) => (text === text.toLowerCase() ? real.findByIdentifier(text) : null),
    }),
    'compares with a pattern': (real, source) => ({
      findByIdentifier: async (text: string) => real.findByIdentifier((await byPattern(source, text)) ?? text),
    }),
    'removes only spaces of ASCII': (real) => ({
      findByIdentifier: async (text: string) => {
        const trimmed = text.replaceAll(/^ +| +$/g, '');
        return trimmed === trimmed.trim() ? real.findByIdentifier(trimmed) : null;
      },
    }),
    'takes look-alikes for one': (real) => ({
      findByIdentifier: async (text: string) => real.findByIdentifier(text.normalize('NFKC')),
    }),
    'compares in capitals': (real, source) => ({
      findByIdentifier: async (text: string) => {
        const rows = await source.query('SELECT email FROM members');
        const found = rows.find(({ email }: { email: string }) => email.toUpperCase() === text.trim().toUpperCase());
        return real.findByIdentifier(found?.email ?? text);
      },
    }),
  },
  'findByIdentifier returns null for an unknown identifier or another value': {
    'removes characters': (real) => ({
      findByIdentifier: async (text: string) => real.findByIdentifier(text.replaceAll('\0', '')),
    }),
    'fails for a NUL': (real, source) => ({
      findByIdentifier: async (text: string) => {
        await source.query('SELECT $1::text', [text]);
        return real.findByIdentifier(text);
      },
    }),
    'takes undefined as no condition': (real, source) => ({
      findByIdentifier: async (text: unknown) =>
        text === undefined
          ? { user: await source.getRepository(Member).findOneBy({}), passwordHash: null }
          : real.findByIdentifier(text as string),
    }),
  },
  'identifierOf returns an identifier that finds the user': {
    'returns the name': () => ({ identifierOf: (user: Member) => user.name }),
  },
  'findByEmail returns the user with the address of emailOf, and no other': {
    'compares to the letter': (real) => ({
      findByEmail: async (text: string) => (text === text.toLowerCase() ? real.findByEmail(text) : null),
    }),
    'compares with a pattern': (real, source) => ({
      findByEmail: async (text: string) => real.findByEmail((await byPattern(source, text)) ?? text),
    }),
  },
  'users contain no password hash and no second factor in JSON': {
    'returns the whole row': (real) => ({
      findById: async (id: string) => {
        const [user, hash] = [await real.findById(id), await real.passwordHashOf(id)];
        return user && Object.assign(user, { hash });
      },
    }),
    'returns the secret': (real) => ({
      findById: async (id: string) => {
        const [user, factor] = [await real.findById(id), await real.secondFactorOf(id)];
        return user && Object.assign(user, { twoFactor: factor?.secret });
      },
    }),
  },
  'passwordHashOf returns the hash of the user, and null for any other text or value': {
    'trims the id': (real) => ({ passwordHashOf: async (id: string) => real.passwordHashOf(id.trim()) }),
    'returns an empty hash for no user': (real) => ({
      passwordHashOf: async (id: string) => (await real.passwordHashOf(id)) ?? '',
    }),
  },
  'savePasswordHash stores a hash that every later read returns': {
    'keeps hashes in memory': (real) => ({ passwordHashOf: cached((id) => real.passwordHashOf(id)) }),
    'keeps credentials in memory': (real) => ({ findByIdentifier: cached((text) => real.findByIdentifier(text)) }),
  },
  'savePasswordHash stores nothing if another hash than `replacing` is stored': {
    'ignores `replacing`': (real) => ({
      savePasswordHash: async (id: string, hash: string) => real.savePasswordHash(id, hash),
    }),
    'takes null as no condition': (real) => ({
      savePasswordHash: async (id: string, hash: string, replacing?: string | null) =>
        real.savePasswordHash(id, hash, replacing ?? undefined),
    }),
  },
  'savePasswordHash lets one of concurrent calls with the same `replacing` succeed': {
    'reads, and then writes': (real) => ({
      savePasswordHash: async (id: string, hash: string, replacing?: string | null) =>
        (replacing === undefined || (await real.passwordHashOf(id)) === replacing) && real.savePasswordHash(id, hash),
    }),
  },
  'savePasswordHash changes nothing for an id that no user has': {
    'takes undefined as no condition': (real, source) => ({
      savePasswordHash: async (id: unknown, hash: string, replacing?: string | null) => {
        if (typeof id === 'string') return real.savePasswordHash(id, hash, replacing);
        await source.query('UPDATE members SET password_hash = $1', [hash]);
        return false;
      },
    }),
    'reports a success': (real) => ({
      savePasswordHash: async (id: string, hash: string, replacing?: string | null) => {
        await real.savePasswordHash(id, hash, replacing).catch(() => undefined);
        return true;
      },
    }),
  },
  'a user without a password has the hash null, and `replacing` = null stores its first one': {
    'returns an empty hash': (real) => ({
      passwordHashOf: async (id: string) => (await real.passwordHashOf(id)) ?? '',
    }),
    'compares with = NULL': (real) => ({
      savePasswordHash: async (id: string, hash: string, replacing?: string | null) =>
        replacing !== null && real.savePasswordHash(id, hash, replacing),
    }),
  },
  'secondFactorOf returns the state of the user, and null for any other text or value': {
    'has no state of a new user': (real) => ({
      secondFactorOf: async (id: string) => {
        const factor = await real.secondFactorOf(id);
        return factor?.secret ? factor : null;
      },
    }),
    'trims the id': (real) => ({ secondFactorOf: async (id: string) => real.secondFactorOf(id.trim()) }),
    'cuts the recovery codes off': (real) => ({
      replaceSecondFactor: async (id: string, current: StoredSecondFactor, next: StoredSecondFactor) =>
        real.replaceSecondFactor(id, current, { ...next, recoveryCodes: next.recoveryCodes?.slice(0, 800) ?? null }),
    }),
  },
  'replaceSecondFactor accepts the state that secondFactorOf returned': {
    'compares dates of another precision': (real) => ({
      replaceSecondFactor: async (id: string, current: StoredSecondFactor, next: StoredSecondFactor) =>
        !current.confirmedAt && real.replaceSecondFactor(id, current, next),
    }),
    'does not store null': (real) => ({
      replaceSecondFactor: async (id: string, current: StoredSecondFactor, next: StoredSecondFactor) =>
        real.replaceSecondFactor(id, current, { ...next, secret: next.secret ?? current.secret }),
    }),
  },
  'replaceSecondFactor stores nothing if another state than `current` is stored': {
    'does not compare the secret': blindTo('secret'),
    'does not compare the recovery codes': blindTo('recoveryCodes'),
    'does not compare the confirmation': blindTo('confirmedAt'),
  },
  'replaceSecondFactor lets one of concurrent calls with the same `current` succeed': {
    'reads, and then writes': (real) => ({
      replaceSecondFactor: async (id: string, current: StoredSecondFactor, next: StoredSecondFactor) => {
        const stored = await real.secondFactorOf(id);
        if (!stored || !sameFactor(stored, current)) return false;
        await real.replaceSecondFactor(id, (await real.secondFactorOf(id))!, next);
        return true;
      },
    }),
  },
  'replaceSecondFactor changes nothing for an id that no user has': {
    'takes undefined as no condition': (real, source) => ({
      replaceSecondFactor: async (id: unknown, current: StoredSecondFactor, next: StoredSecondFactor) => {
        if (typeof id === 'string') return real.replaceSecondFactor(id, current, next);
        const sql = 'UPDATE members SET two_factor_secret = $1 WHERE two_factor_secret IS NOT DISTINCT FROM $2';
        await source.query(sql, [next.secret, current.secret]);
        return false;
      },
    }),
  },
  'create stores the account and returns its user': {
    'returns the hash': (real) => ({
      create: async (account: { passwordHash: string }) => {
        const user = await real.create(account as never);
        return user && Object.assign(user, { hash: account.passwordHash });
      },
    }),
    'stores nothing': () => ({ create: async () => ({ id: 'x' }) }),
    'remembers that there is no user': (real) => ({ findByIdentifier: cached((text) => real.findByIdentifier(text)) }),
  },
  'create returns null for an identifier that is taken, and changes nothing': {
    'returns the owner': (real) => ({
      create: async (account: { identifier: string }) =>
        (await real.create(account as never)) ?? userOf(await real.findByIdentifier(account.identifier)),
    }),
    'replaces the owner': (real) => ({
      create: async (account: { identifier: string; passwordHash: string }) => {
        const owner = userOf(await real.findByIdentifier(account.identifier));
        if (owner) await real.savePasswordHash(real.idOf(owner), account.passwordHash);
        return owner ? null : real.create(account as never);
      },
    }),
  },
  'create lets one of concurrent calls with one identifier succeed': {
    'reads, and then fails for a duplicate': (real) => ({
      create: async (account: { identifier: string }) => {
        if (await real.findByIdentifier(account.identifier)) return null;
        const user = await real.create(account as never);
        if (!user) throw new Error('duplicate key value violates unique constraint');
        return user;
      },
    }),
  },
  'imitateCreation changes nothing': {
    'stores a hash': (real) => ({ imitateCreation: (id: string) => real.savePasswordHash(id, 'x') }),
  },
  'wasCreatedSince is true only for users that were created after the mark': {
    'does not compare': () => ({ wasCreatedSince: async () => true }),
    'finds no new user': () => ({ wasCreatedSince: async () => false }),
  },
  'markEmailVerified marks the current email, once': {
    'does not compare the email': (real) => ({
      markEmailVerified: async (id: string, _email: string, at: Date) =>
        real.markEmailVerified(id, real.emailOf((await real.findById(id))!)!, at),
    }),
    'reports a second success': (real) => ({
      markEmailVerified: async (id: string, email: string, at: Date) => {
        const user = await real.findById(id);
        return (await real.markEmailVerified(id, email, at)) || (user !== null && real.emailOf(user) === email);
      },
    }),
    'counts all as verified': () => ({ isEmailVerified: () => true }),
  },
  'markEmailVerified lets one of concurrent calls succeed': {
    'reads, and then writes': (real) => ({
      markEmailVerified: async (id: string, email: string, at: Date) => {
        const user = await real.findById(id);
        if (!user || real.isEmailVerified(user) || real.emailOf(user) !== email) return false;
        await real.markEmailVerified(id, email, at);
        return true;
      },
    }),
  },
  'markEmailVerified changes nothing for an id that no user has': {
    'takes undefined as no condition': (real, source) => ({
      markEmailVerified: async (id: unknown, email: string, at: Date) => {
        if (typeof id === 'string') return real.markEmailVerified(id, email, at);
        await source.query('UPDATE members SET email_verified_at = $1 WHERE email = $2', [at, email]);
        return false;
      },
    }),
  },
  'delete removes the user from every look-up': {
    'deletes nothing': () => ({ delete: async () => true }),
    'keeps users in memory': (real) => ({ findById: cached((id) => real.findById(id)) }),
    'keeps credentials in memory': (real) => ({ findByIdentifier: cached((text) => real.findByIdentifier(text)) }),
  },
  'delete returns false for a user that does not exist, and deletes no other': {
    'reports a success': (real) => ({
      delete: async (id: string, manager: never) => {
        await real.delete(id, manager);
        return true;
      },
    }),
    'takes undefined as no condition': (real, source) => ({
      delete: async (id: unknown, manager: never) => {
        if (typeof id === 'string') return real.delete(id, manager);
        await source.query('DELETE FROM members');
        return false;
      },
    }),
  },
  'delete removes the user permanently: its identifier is free again': {
    'keeps the row': (_, source) => ({
      delete: async (id: string) => {
        await source.query('UPDATE members SET deleted_at = now() WHERE id = $1', [id]);
        return true;
      },
    }),
  },
  'existingIds contains every id that has a user, and no deleted one': {
    'reads one page': (real) => ({ existingIds: async (ids: string[]) => real.existingIds(ids.slice(0, 10)) }),
    'reads nothing': () => ({ existingIds: async (ids: string[]) => new Set(ids) }),
  },
  'every look-up and every write throws while the store does not answer': {
    'returns null': (real) => ({ findById: (id: string) => real.findById(id).catch(() => null) }),
    'returns no existing ids': (real) => ({
      existingIds: (ids: string[]) => real.existingIds(ids).catch(() => new Set()),
    }),
    'reports that it has not marked the email': (real) => ({
      markEmailVerified: (id: string, email: string, at: Date) =>
        real.markEmailVerified(id, email, at).catch(() => false),
    }),
    'reports that it has deleted no user': (real) => ({
      delete: (id: string, manager: never) => real.delete(id, manager).catch(() => false),
    }),
    'throws an error that is answered 500': (real) => ({
      findById: (id: string) => real.findById(id).catch(() => Promise.reject(new TypeError('no rows'))),
    }),
  },
};

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
