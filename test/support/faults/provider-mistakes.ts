import type { StoredSecondFactor, UserProvider } from '@svc/auth';
import type { DataSource } from 'typeorm';
import { Member } from '../hosts/user-entities';

/** Returns members of a provider that replace the correct ones. */
export type Mistake = (
  real: Required<UserProvider>,
  source: DataSource,
) => Partial<Record<keyof UserProvider, unknown>>;

export const userOf = (found: { user: object } | null): object | null => found?.user ?? null;
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

/** Whether a text has the form of the ids of members, or of people. */
const isId = (id: unknown): id is string =>
  typeof id === 'string' && /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[1-9]\d*)$/.test(id);

/** A method that returns true for each text that has the form of an id. */
export const trueForIds =
  (method: 'savePasswordHash' | 'replaceSecondFactor' | 'markEmailVerified'): Mistake =>
  (real) => ({
    [method]: async (id: unknown, ...values: unknown[]) => {
      const isDone = await (real[method] as (...all: unknown[]) => Promise<boolean>).call(real, id, ...values);
      // A value that is not stored any more is still refused for a user that exists.
      return isDone || (isId(id) && (await real.findById(id)) === null);
    },
  });

/** The result of a look-up without the column of the verification. */
export function withoutVerification<T extends object | null>(user: T): T {
  if (user) delete (user as { emailVerifiedAt?: unknown }).emailVerifiedAt;
  return user;
}

/** A user without the column counts as verified. */
export const isNotNull = ({ emailVerifiedAt }: Member): boolean => emailVerifiedAt !== null;

/** Number of rows that a statement has changed. */
const changed = async (source: DataSource, sql: string, values: unknown[]): Promise<number> =>
  (await source.query(sql, values))[1];

/** PostgreSQL does not repeat the subquery after it has waited for the lock of the row. */
export const comparesInSubquery: Mistake = (real, source) => ({
  savePasswordHash: async (id: unknown, hash: string, replacing?: string | null) => {
    if (!isId(id) || replacing === undefined) return real.savePasswordHash(id as string, hash, replacing);
    const sql = `UPDATE members SET password_hash = $2 WHERE id IN (SELECT id FROM members WHERE id = $1
                    AND password_hash IS NOT DISTINCT FROM $3)`;
    return (await changed(source, sql, [id, hash, replacing])) === 1;
  },
});

/** The look-up of `ILIKE`, whose argument is a pattern. */
const byPattern = async (source: DataSource, text: string): Promise<string | undefined> =>
  (await source.query('SELECT email FROM members WHERE email ILIKE $1', [text.trim().replaceAll('\0', '')]))[0]?.email;

/** A look-up with a cache, which no write empties. */
export function cached<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return async (key) => structuredClone(await (known.get(key) ?? known.set(key, read(key)).get(key)!));
}

/** Mistakes that hosts make with look-ups, passwords and second factors, by the check that finds them. */
export const CREDENTIAL_MISTAKES: Record<string, Record<string, Mistake>> = {
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
  'findByEmails returns the users with one of the emails, each with its password hash, and no other': {
    'finds one user': (real) => ({
      findByEmails: async (emails: string[]) => (await real.findByEmails(emails)).slice(0, 1),
    }),
    'reads no hash': (real) => ({
      findByEmails: async (emails: string[]) =>
        (await real.findByEmails(emails)).map(({ user }) => ({ user, passwordHash: null })),
    }),
    'takes an empty list as no condition': (real, source) => ({
      findByEmails: async (emails: string[]) =>
        emails.length
          ? real.findByEmails(emails)
          : (await source.getRepository(Member).find()).map((user) => ({ user, passwordHash: null })),
    }),
    'fails for a text that PostgreSQL cannot store': (real, source) => ({
      findByEmails: async (emails: string[]) => {
        await source.query('SELECT $1::text[]', [emails]);
        return real.findByEmails(emails);
      },
    }),
  },
  'findById, findByIdentifier and findByEmail return users with the same id, email and verification': {
    'does not select the verification by an identifier': (real) => ({
      isEmailVerified: isNotNull,
      findByIdentifier: async (text: string) => {
        const found = await real.findByIdentifier(text);
        return found && { ...found, user: withoutVerification(found.user) };
      },
    }),
    'does not select the verification by an email': (real) => ({
      isEmailVerified: isNotNull,
      findByEmail: async (text: string) => withoutVerification(await real.findByEmail(text)),
    }),
    'does not select the email by an identifier': (real) => ({
      findByIdentifier: async (text: string) => {
        const found = await real.findByIdentifier(text);
        return found && { ...found, user: Object.assign(found.user, { email: undefined }) };
      },
    }),
    'does not know whether an email is verified': () => ({ isEmailVerified: () => undefined }),
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
    'compares in a subquery': comparesInSubquery,
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
    'takes NULL as no condition': (_, source) => ({
      replaceSecondFactor: async (id: unknown, current: StoredSecondFactor, next: StoredSecondFactor) => {
        if (!isId(id)) return false;
        const sql = `UPDATE members SET two_factor_secret = $2, two_factor_recovery_codes = $3, two_factor_confirmed_at = $4
                      WHERE id = $1 AND (two_factor_secret IS NULL OR two_factor_secret = $5)
                        AND (two_factor_recovery_codes IS NULL OR two_factor_recovery_codes = $6)
                        AND ($7 OR two_factor_confirmed_at IS NULL)`;
        const values = [next, current].map(({ secret, recoveryCodes, confirmedAt }) => [
          secret,
          recoveryCodes,
          confirmedAt,
        ]);
        const [after, before] = values as [unknown[], unknown[]];
        return (await changed(source, sql, [id, ...after, before[0], before[1], before[2] !== null])) === 1;
      },
    }),
    'confirms a pending factor': (real) => ({
      replaceSecondFactor: async (id: string, current: StoredSecondFactor, next: StoredSecondFactor) =>
        (await real.replaceSecondFactor(id, current, next)) ||
        real.replaceSecondFactor(id, { ...current, confirmedAt: null }, next),
    }),
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
};
