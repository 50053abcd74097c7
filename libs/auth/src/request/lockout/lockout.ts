import { Injectable, Logger } from '@nestjs/common';
import type { LineDetails, LoggedEvents } from '../../foundation/realm/log-events';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { isMissingTable } from '../../foundation/platform/pg-errors';
import { bestEffort, isInconclusive } from '../../foundation/platform/deadline';
import { AuthException } from '../../foundation/platform/errors';
import type { Text } from '../../foundation/platform/messages';
import { Realm, Realms } from '../../foundation/realm/realm';
import { secondsHeld } from './lockout.policy';
import { foldedIdentifier } from '../../identity/users/identifiers';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import {
  type LockKey,
  type LockPurpose,
  LockoutStore,
  LoginLocks,
  type Released,
  type Reserved,
  lockedUserId,
  mailLock,
  mailOf,
  userLock,
} from './lockout.store';

/** Too many consecutive failures: 423 under the field of the endpoint, also for an account that does not exist. */
export class AccountIsLocked extends AuthException {
  /**
   * @param field the request field that is refused
   * @param seconds until the lock ends; Infinity for a lock that ends only when it is released
   */
  constructor(field: string, seconds: number) {
    const text: Text = Number.isFinite(seconds)
      ? { key: 'auth.locked_for', params: { seconds } }
      : { key: 'auth.locked' };
    super('account_locked', { status: 423, errors: { [field]: [text] } });
  }
}

/**
 * Locks an account after too many consecutive failures. Every attempt is reserved before it is verified, so no more than
 * `lockout.maxAttempts` attempts are verified, even when many run concurrently.
 *
 * Counts failures in the database. Until the migration creates the table, no account is locked. A guard without
 * `features.lockout` locks nothing; it counts for the guards with the same users that have it. If none has it, nothing is
 * counted.
 */
@Injectable()
export class AccountLockout {
  private readonly logger = new Logger('Auth');
  private readonly listeners: ((key: LockKey) => void)[] = [];
  private reported = false;

  constructor(
    private readonly store: LockoutStore,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
  ) {}

  /** Throws while the key is locked. Writes nothing. @throws AccountIsLocked under `field` */
  async refuseLocked(key: LockKey, field: string): Promise<void> {
    const seconds = await this.secondsLocked(key);
    if (seconds > 0) throw new AccountIsLocked(field, seconds);
  }

  /** Seconds until the lock of a key ends: 0 without a lock, Infinity for a lock that ends only when it is released. */
  async secondsLocked(key: LockKey): Promise<number> {
    if (!key.subject || !this.realm.options.features.lockout) return 0;
    const lock = await this.unlessMissing(this.store.find(key), null);
    return lock ? secondsHeld(lock, this.realm.options.lockout.releaseAfter) : 0;
  }

  /** The locks of this guard that are active, the newest first, with the seconds as {@link secondsLocked}. */
  async held(): Promise<(LockKey & { seconds: number })[]> {
    const { features, lockout } = this.realm.options;
    const locks = features.lockout ? await this.unlessMissing(this.store.locks(), []) : [];
    const held = locks.map((lock) => ({ ...lock, seconds: secondsHeld(lock, lockout.releaseAfter) }));
    return held.filter(({ seconds }) => seconds > 0);
  }

  /**
   * Calls `listener` for each lock, after the attempt that set it has failed. {@link AccountLocked} is emitted before that
   * attempt is verified, and a lock that a success releases at once is none for the owner of the account.
   */
  onLock(listener: (key: LockKey) => void): void {
    this.listeners.push(listener);
  }

  /**
   * Reserves an attempt, then runs `verify`, which resolves to null for a wrong secret. A success does not clear the
   * counter: see {@link release}. An inconclusive error takes the attempt back, and a lock that it set.
   *
   * @throws AccountIsLocked under `field`, without verification
   */
  async attempt<T>(key: LockKey, field: string, verify: () => Promise<T | null>): Promise<T | null> {
    if (!key.subject || !this.store.isUsed) return verify();
    const reserved = await this.reserve(key, field);
    try {
      const verified = await verify();
      if (verified === null) this.recordFailure(key, reserved);
      return verified;
    } catch (error) {
      if (isInconclusive(error)) await this.returnAttempt(key, reserved);
      else this.recordFailure(key, reserved);
      throw error;
    }
  }

  /**
   * Clears counters, locked or not, and resolves to those that existed.
   *
   * @param succeeded the counter of the attempt that has succeeded, which counts it until now
   */
  async release(keys: readonly LockKey[], succeeded?: LockKey): Promise<Released[]> {
    if (!this.store.isUsed) return [];
    const counted = keys.filter(({ subject }) => subject);
    const released = await this.unlessMissing(this.store.remove(counted), []);
    for (const { purpose, subject, attempts, wasLocked } of released) {
      const isOwn = succeeded?.purpose === purpose && succeeded.subject === subject && !wasLocked;
      this.events.emit(new AccountReleased(purpose, subject, this.realm.guard, attempts - (isOwn ? 1 : 0)));
    }
    return released;
  }

  private async reserve(key: LockKey, field: string): Promise<Reserved[]> {
    const reserved = await this.unlessMissing<Reserved[] | null>(this.store.reserve(key), []);
    if (reserved && hasLocked(reserved))
      this.events.emit(new AccountLocked(key.purpose, key.subject, this.realm.guard));
    const here = reserved?.find(({ guard }) => guard === this.realm.guard);
    if (reserved && (here?.attempts ?? 0) <= this.realm.options.lockout.maxAttempts) return reserved;
    await this.refuseLocked(key, field);
    // The lock was released between the two statements: the attempt counts as the first one after the release.
    return this.reserve(key, field);
  }

  private recordFailure(key: LockKey, reserved: readonly Reserved[]): void {
    if (hasLocked(reserved)) for (const listener of this.listeners) listener(key);
  }

  /** The fault that ended the check may last: then the attempt is returned after the response, when the database answers. */
  private returnAttempt(key: LockKey, reserved: readonly Reserved[]): Promise<void> {
    return bestEffort('returning an attempt that was not a failure', async () => {
      const returned = await this.store.returnAttempt(reserved);
      if (!hasLocked(returned)) return;
      const attempts = Math.max(...returned.map((counted) => counted.attempts));
      this.events.emit(new AccountReleased(key.purpose, key.subject, this.realm.guard, attempts));
    });
  }

  private async unlessMissing<T>(answer: Promise<T>, otherwise: T): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (!isMissingTable(error)) throw error;
      if (!this.reported) {
        this.logger.error(
          'features.lockout is on, but its table is missing: no account is locked. Run the migrations.',
        );
      }
      this.reported = true;
      return otherwise;
    }
  }
}

/** Whether an attempt has locked an account, at any guard. */
const hasLocked = (reserved: readonly Reserved[]): boolean => reserved.some(({ lockedAt }) => lockedAt !== null);

/** Lists and releases locks for an operator, who specifies a login lock by the identifier of the account. */
@Injectable()
export class LockRelease {
  constructor(
    private readonly lockout: AccountLockout,
    private readonly users: TimedUserProvider,
    private readonly locks: LoginLocks,
    private readonly realms: Realms,
  ) {}

  /** The active locks of all guards, with their guard: see {@link AccountLockout.held}. */
  async held() {
    const locks = this.realms.all.map(async (scope) =>
      (await scope.get(AccountLockout).held()).map((lock) => ({ guard: scope.realm.guard, ...lock })),
    );
    return (await Promise.all(locks)).flat();
  }

  /**
   * Clears a counter, locked or not, and resolves to what was cleared.
   *
   * @param subject the identifier for `login`, otherwise the user's id, compared exactly
   */
  async release(purpose: LockPurpose, subject: string): Promise<Released[]> {
    return this.lockout.release(purpose === 'login' ? await this.ofLogin(subject) : [userLock(purpose, subject)]);
  }

  /**
   * Looks up the identifier as given first, and in lower case only if there is no such account. `mail:` and an address names
   * the counter of mailed codes, too.
   */
  private async ofLogin(subject: string): Promise<LockKey[]> {
    const given = subject.trim();
    const email = mailOf(given);
    const ofMail = email === null ? [] : [mailLock(email)];
    const found =
      (await this.users.findByIdentifier(given)) ?? (await this.users.findByIdentifier(foldedIdentifier(given)));
    return [...ofMail, ...(found ? this.locks.ofUser(found.user) : [this.locks.of(given, null)])];
  }
}

/**
 * The consecutive failures of a subject reached `lockout.maxAttempts`. Emitted once per lock, when the last allowed
 * attempt is reserved, and not emitted if the database does not answer in time. If that attempt succeeds, or could not be
 * verified, {@link AccountReleased} follows.
 *
 * The option `mail.notices` informs the owner of the account. `subject` is the key of a counter and may belong to no account.
 *
 * @publicApi
 */
export class AccountLocked {
  constructor(
    readonly purpose: LockPurpose,
    /** `id:{user id}`, `idn:{identifier}` or `mail:{email}` for logins, the user's id otherwise. */
    readonly subject: string,
    readonly guard: string,
  ) {}
}

/**
 * A counter of failures was cleared, locked or not: by a success, by a change of password, or by `svc:release`. Every successful login
 * emits this event, because each attempt is counted before it is verified.
 *
 * @publicApi
 */
export class AccountReleased {
  constructor(
    readonly purpose: LockPurpose,
    readonly subject: string,
    readonly guard: string,
    /** Attempts that it had counted, without the one that has succeeded unless that one set a lock: 0 if none had failed. */
    readonly failures: number,
  ) {}
}

/** Names the locked account by its user id. An identifier without an account is personal data and is not logged. */
const ofLock = ({ purpose, subject, guard }: AccountLocked): LineDetails => ({
  purpose,
  guard,
  user_id: lockedUserId({ purpose, subject }) ?? undefined,
});

declare module '../../foundation/platform/catalogue' {
  interface SecurityEvents {
    'auth.account.locked': AccountLocked;
    'auth.account.failures_cleared': AccountReleased;
  }
}

export const LOCKOUT_EVENTS: LoggedEvents = {
  'auth.account.locked': {
    event: AccountLocked,
    severity: 'warning',
    details: ofLock,
    counter: ['svc.auth.account.locks', 'guard', 'purpose'],
  },
  // Each success with a password clears its own counted attempt: usually nothing had failed.
  'auth.account.failures_cleared': {
    event: AccountReleased,
    severity: 'info',
    details: (released) => (released.failures > 0 ? ofLock(released) : null),
  },
};
