import type { EmailReplacement } from '@svc/auth';
import { type DataSource, type EntityManager, QueryFailedError } from 'typeorm';
import { type Mistake, cached, isNotNull, trueForIds, userOf, withoutVerification } from './provider-mistakes';
import { Member } from '../hosts/user-entities';

/** Mistakes that hosts make with the life of an account, by the check that finds them. */
export const ACCOUNT_MISTAKES: Record<string, Record<string, Mistake>> = {
  'create stores the account and returns its user': {
    'returns the hash': (real) => ({
      create: async (account: { passwordHash: string }) => {
        const user = await real.create(account as never);
        return user && Object.assign(user, { hash: account.passwordHash });
      },
    }),
    'stores nothing': () => ({ create: async () => ({ id: 'x' }) }),
    'stores no name': (real) => ({ create: (account: object) => real.create({ ...account, name: '' } as never) }),
    'does not select the verification': (real) => ({
      isEmailVerified: isNotNull,
      create: async (account: object) => withoutVerification(await real.create(account as never)),
    }),
    'remembers that there is no user': (real) => ({ findByIdentifier: cached((text) => real.findByIdentifier(text)) }),
  },
  'create stores an account without a password': {
    'stores an empty hash': (real) => ({
      create: (account: { passwordHash: string | null }) =>
        real.create({ ...account, passwordHash: account.passwordHash ?? '' } as never),
    }),
    'stores the word null': (real) => ({
      create: (account: { passwordHash: string | null }) =>
        real.create({ ...account, passwordHash: String(account.passwordHash) } as never),
    }),
    'creates no account without a password': (real) => ({
      create: async (account: { passwordHash: string | null }) =>
        account.passwordHash === null ? null : real.create(account as never),
    }),
  },
  'create does not answer an error with null': {
    'answers every error of the database with null': (real) => ({
      create: (account: object) =>
        real.create(account as never).catch((error: unknown) => {
          if (error instanceof QueryFailedError) return null;
          throw error;
        }),
    }),
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
    'renames the owner': (real, source) => ({
      create: async (account: { identifier: string; name: string }) => {
        const user = await real.create(account as never);
        if (!user)
          await source.query('UPDATE members SET name = $2 WHERE email = $1', [account.identifier, account.name]);
        return user;
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
    'returns the former state by an email': (real) => ({
      findByEmail: async (text: string) => {
        const user = await real.findByEmail(text);
        return user && Object.assign(user, { emailVerifiedAt: null });
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
  'a write by the id of no user returns false and stores nothing, also if it has the form of an id': {
    'reports that it has stored a hash': trueForIds('savePasswordHash'),
    'reports that it has stored a second factor': trueForIds('replaceSecondFactor'),
    'reports that it has marked an email': trueForIds('markEmailVerified'),
    'inserts the user': (real, source) => ({
      savePasswordHash: async (id: string, hash: string, replacing?: string | null) => {
        const isStored = await real.savePasswordHash(id, hash, replacing);
        const sql = `INSERT INTO members (id, name, email, password_hash) VALUES ($1::uuid, '', $1::text, $2) ON CONFLICT DO NOTHING`;
        if (!isStored) await source.query(sql, [id, hash]).catch(() => undefined);
        return isStored;
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
  'delete is undone if its transaction is rolled back': {
    'deletes on another connection': (_, source) => ({
      delete: async (id: string) => {
        // The other checks give it texts that are no ids.
        const [, count] = await source.query('DELETE FROM members WHERE id::text = $1', [
          String(id).replaceAll('\0', ''),
        ]);
        return count === 1;
      },
    }),
  },
  'existingIds contains every id that has a user, and no deleted one': {
    'reads one page': (real) => ({ existingIds: async (ids: string[]) => real.existingIds(ids.slice(0, 10)) }),
    'reads at most 1,000 ids': (real) => ({
      existingIds: async (ids: string[]) => real.existingIds(ids.slice(0, 1000)),
    }),
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
    'reports that the user has another email': (real) => ({
      changeEmail: (id: string, change: never, manager: never) =>
        real.changeEmail(id, change, manager).catch(() => 'stale'),
    }),
  },
  'changeEmail and changeIdentifier replace the former value, and only that of the user': {
    'stores nothing': () => ({ changeEmail: async () => 'changed' }),
    'does not verify the new email': (_, source) => ({
      changeEmail: async (id: string, { from, to }: EmailReplacement) =>
        (await changedEmail(source, 'id = $1 AND email = $2', [id, from, to])) ? 'changed' : 'stale',
    }),
    'keeps users in memory': (real) => ({ findByEmail: cached((text) => real.findByEmail(text)) }),
  },
  'changeEmail and changeIdentifier change nothing for a value that is taken, and for another former value': {
    'throws for a taken email': (real) => ({
      changeEmail: async (id: string, change: EmailReplacement, manager: never) => {
        const result = await real.changeEmail(id, change, manager);
        if (result === 'taken') throw new Error('duplicate key value violates unique constraint');
        return result;
      },
    }),
    'does not compare the former email': (real) => ({
      changeEmail: async (id: string, change: EmailReplacement, manager: never) => {
        const user = await real.findById(id);
        return real.changeEmail(id, { ...change, from: user && real.emailOf(user) }, manager);
      },
    }),
  },
  'changeEmail and changeIdentifier let one of concurrent calls with one former value succeed': {
    'reads, and then writes': (real) => ({
      changeEmail: async (id: string, change: EmailReplacement, manager: EntityManager) => {
        const user = await real.findById(id);
        if (!user || real.emailOf(user) !== change.from) return 'stale';
        await manager.update(Member, { id }, { email: change.to, emailVerifiedAt: change.verifiedAt });
        return 'changed';
      },
    }),
  },
  'changeEmail is undone if its transaction is rolled back': {
    'writes on another connection': (_, source) => ({
      changeEmail: async (id: string, { from, to }: EmailReplacement) =>
        (await changedEmail(source, 'id = $1 AND email = $2', [id, from, to])) ? 'changed' : 'stale',
    }),
  },
};

/** Whether a statement has changed the email of a user. */
const changedEmail = async (source: DataSource, where: string, values: unknown[]): Promise<boolean> =>
  (await source.query(`UPDATE members SET email = $3 WHERE ${where}`, values))[1] === 1;
