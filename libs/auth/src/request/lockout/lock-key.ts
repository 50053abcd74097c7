import { bounded, foldedIdentifier } from '../../identity/users/identifiers';

/** What a lock guards against trying: the password at login, the second factor, the password at step-up. */
export const LOCK_PURPOSES = ['login', 'two_factor', 'confirm'] as const;

export type LockPurpose = (typeof LOCK_PURPOSES)[number];

/** Whose failures at what are counted together. An empty subject stands for nobody and is never counted. */
export interface LockKey {
  readonly purpose: LockPurpose;
  readonly subject: string;
}

/**
 * The lock of a login. An account is counted by its id, so that nobody locks or releases it through an
 * identifier that only looks like its own; an identifier without an account is counted too, or the answer
 * would tell which ones exist. Neither shares its lock with a look-alike: the answer to the one would tell
 * whether the other is counted by an id.
 *
 * @param userId the account the identifier resolved to, or null
 */
export function loginLock(userId: string | null, identifier: string): LockKey {
  const folded = foldedIdentifier(identifier);
  const unknown = folded && `idn:${bounded(folded)}`;
  return { purpose: 'login', subject: userId === null ? unknown : `id:${bounded(userId)}` };
}

/** The lock of what a known user tries. Ids are taken to the letter: a ULID in lower case is none. */
export const userLock = (purpose: 'two_factor' | 'confirm', userId: string): LockKey => ({
  purpose,
  subject: bounded(userId),
});
