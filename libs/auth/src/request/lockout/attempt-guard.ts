import { Injectable, Logger } from '@nestjs/common';
import {
  type AttemptOutcome,
  type Limit,
  SecurityStore,
  type Tally,
} from '../../foundation/security-store/security-store';
import { TooManyFailures } from '../throttling/throttling.errors';
import { AccountLockout } from './lockout';
import { type LockKey, LoginLocks, USER_PURPOSES, mailLock, userLock } from './lockout.store';
import { setTimeout as sleep } from 'node:timers/promises';
import { BackgroundWork, RequestScope, isInconclusive } from '../../foundation/platform/deadline';
import { AuthException } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';
import { Clients } from '../http/client-info';
import { limit } from '../throttling/limiters';
import { type LimitState, limitState } from '../throttling/rate-limit.policy';

/** Milliseconds that an attempt waits for running attempts before it is refused, and milliseconds between two checks. */
const WAIT = { totalMs: 1000, stepMs: 25 };

/**
 * Limits failed attempts. Only failures count. Each attempt is reserved before its verification, so the number of
 * verifications never exceeds the limit, even when many attempts run concurrently.
 */
@Injectable()
export class FailureLimiter {
  private readonly logger = new Logger('Auth');

  constructor(private readonly store: SecurityStore) {}

  /**
   * Runs `verify` if no limit is exhausted. A result of null and a conclusive error count as a failure. Another result
   * resets the counters. An inconclusive error is not counted.
   *
   * @param refuse makes the error for an exhausted limit; its parameter is the state of the limit
   * @param onSuccess the effect of a success on the counters; by default it resets them
   * @param precondition is checked beside the limits. Its error has precedence, and then nothing is counted
   */
  async attempt<T>(
    limits: readonly Limit[],
    verify: () => Promise<T | null>,
    refuse: (state: LimitState) => Error,
    onSuccess: AttemptOutcome = 'succeeded',
    precondition?: Promise<void>,
  ): Promise<T | null> {
    if (!limits.length) {
      await precondition;
      return verify();
    }
    const tally = await this.reserve(limits, precondition);
    if (!tally.admitted) {
      const state = limitState(limits, tally);
      throw refuse(isExhausted(limits, tally) ? state : { ...state, retryAfter: 1 });
    }
    let attemptOutcome: AttemptOutcome = 'undone';
    try {
      const verified = await verify();
      attemptOutcome = verified === null ? 'failed' : onSuccess;
      return verified;
    } catch (error) {
      if (!isInconclusive(error)) attemptOutcome = 'failed';
      throw error;
    } finally {
      const settled = this.settle(limits, attemptOutcome);
      // The answer to a failure waits until it is counted.
      if (attemptOutcome === 'failed') await settled;
      else BackgroundWork.ofProcess.add(settled);
    }
  }

  private async settle(limits: readonly Limit[], attemptOutcome: AttemptOutcome): Promise<void> {
    try {
      await this.store.settle(limits, attemptOutcome);
    } catch (error) {
      // A failure must be counted, so the error is thrown. After a success, counters that are not reset are acceptable.
      if (attemptOutcome === 'failed') throw error;
      this.logger.warn(`failed attempts stay counted: ${(error as Error).message}`);
    }
  }

  /**
   * When running attempts use the rest of a limit, waits for their outcome before refusing: they may succeed.
   *
   * @throws the error of `precondition`, which takes the attempt back
   */
  private async reserve(limits: readonly Limit[], precondition: Promise<void> | undefined): Promise<Tally> {
    const deadline = performance.now() + WAIT.totalMs;
    for (;;) {
      // Detached from the request's deadline: the time is spent waiting for other attempts, not for the store.
      const counting = RequestScope.detached(async () => this.store.count(limits, true));
      const [counted, checked] = await Promise.allSettled([counting, precondition]);
      if (checked.status === 'rejected') {
        if (counted.status === 'fulfilled' && counted.value.admitted)
          BackgroundWork.ofProcess.add(this.settle(limits, 'undone'));
        throw checked.reason;
      }
      const tally = await counting;
      if (tally.admitted || isExhausted(limits, tally) || performance.now() >= deadline) return tally;
      await sleep(WAIT.stepMs);
    }
  }
}

/** Whether counted failures fill a limit, without the attempts that are still running. */
const isExhausted = (limits: readonly Limit[], { buckets }: Tally): boolean =>
  limits.some(({ max }, i) => (buckets[i]?.counted ?? 0) >= max);

/** Makes the limits under which failed attempts are counted: once for a user, at all guards of the source. */
@Injectable()
export class FailureLimits {
  constructor(
    private readonly realm: Realm,
    private readonly clients: Clients,
  ) {}

  /**
   * Limits for failed logins: by account and client, and by account alone, because a botnet has many clients. The account
   * is that of the lock: its id, or the spelling of an unknown identifier. Without an identifier there is no limit by
   * account: all such requests would share one counter.
   */
  ofLogin({ subject }: LockKey, request: object): Limit[] {
    const { source, options } = this.realm;
    const { maxAttempts, accountMaxAttempts, decaySeconds } = options.rateLimits.login;
    const byClient = { key: `${source.key}|${subject}|${this.clients.addressOf(request)}`, maxAttempts, decaySeconds };
    const byAccount = { key: `acct|${source.key}|${subject}`, maxAttempts: accountMaxAttempts, decaySeconds };
    const group = `${source.key}|${subject}`;
    return [
      limit('login-failures', byClient, group),
      ...(subject ? [limit('account-failures', byAccount, group)] : []),
    ];
  }

  /** The limits of an account by itself, without those of single clients. */
  ofAccount(keys: readonly LockKey[], userId: string): Limit[] {
    const ofLogin = keys.filter(({ purpose }) => purpose === 'login').flatMap((key) => this.ofLogin(key, {}).slice(1));
    return [...ofLogin, ...this.ofTwoFactor(userId)];
  }

  /** Limits for failed second factors of one account. */
  ofTwoFactor(userId: string): Limit[] {
    const { source, options } = this.realm;
    return [limit('2fa-challenge', { key: `${source.key}:${userId}`, ...options.rateLimits.twoFactor })];
  }
}

/** Carries an error of {@link afterProof} out of the counters. */
class AfterProof extends AuthException {
  constructor(readonly error: unknown) {
    super('other', { status: 503 });
  }
}

/**
 * Runs the rest of a check after the secret was found to be right. No error of it counts as a failure, whatever it is: not
 * that of a store, and not that of a hook of the host. Only within the `verify` of {@link AttemptGuard.run}.
 */
export async function afterProof<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof AfterProof ? error : new AfterProof(error);
  }
}

/** Describes how a check of a secret is protected. */
export interface GuardedAttempt<T> {
  /** The counter of consecutive failures; omitted when the secret cannot be guessed. */
  readonly lock?: LockKey;
  /** Limits for failures in a period of time. */
  readonly limits?: readonly Limit[];
  /** The request field in the error body of a refusal. */
  readonly field: string;
  /** The effect of a success on the counters of `limits`; by default it resets them. */
  readonly onSuccess?: AttemptOutcome;
  /** Called before an attempt is refused because of `limits`. */
  readonly onLimit?: () => void;
  /** The counters of consecutive failures that a success clears; none by default. */
  readonly released?: (verified: T) => readonly LockKey[];
}

/**
 * Runs every check of a secret: password, code and passkey. The order is fixed:
 *
 * 1. An existing lock refuses the attempt first, because it lasts longer than a limit. It is read beside the limits.
 * 2. The limits and the lock each reserve an attempt.
 * 3. The secret is verified.
 * 4. A success clears counters.
 */
@Injectable()
export class AttemptGuard {
  constructor(
    private readonly lockout: AccountLockout,
    private readonly failures: FailureLimiter,
  ) {}

  /**
   * @param verify resolves to null for a wrong secret
   * @returns the result of `verify`
   * @throws AccountIsLocked and TooManyFailures, both without verification; StoreUnavailable
   */
  async run<T>(attempt: GuardedAttempt<T>, verify: () => Promise<T | null>): Promise<T | null> {
    const { lock, limits = [], field, onSuccess, onLimit, released } = attempt;
    const unlocked = lock && this.lockout.refuseLocked(lock, field);
    const check = async (): Promise<T | null> => {
      const verified = await verify();
      // Within the attempt: if the release fails, the attempt is taken back, because it was no failure.
      if (verified !== null && released) await afterProof(() => this.lockout.release(released(verified), lock));
      return verified;
    };
    const attempts = this.failures.attempt(
      limits,
      () => (lock ? this.lockout.attempt(lock, field, check) : check()),
      (state) => {
        onLimit?.();
        return new TooManyFailures(field, state);
      },
      onSuccess,
      unlocked,
    );
    return attempts.catch((error: unknown) => {
      throw error instanceof AfterProof ? error.error : error;
    });
  }
}

/** A lock after failed attempts. */
export interface ShownLock {
  readonly purpose: LockKey['purpose'];
  /** Seconds until it ends; null for one that ends only when it is released. */
  readonly seconds: number | null;
}

/** A limit on the failures of an account in a period, all clients together. */
export interface ShownLimit {
  readonly name: string;
  readonly failures: number;
  /** The number of failures that closes it. */
  readonly most: number;
  /** Seconds until the period ends. */
  readonly seconds: number;
}

/** Shows and releases the locks and the limits of one account, for an operator. */
@Injectable()
export class AccountLocks {
  constructor(
    private readonly lockout: AccountLockout,
    private readonly locks: LoginLocks,
    private readonly limits: FailureLimits,
    private readonly store: SecurityStore,
  ) {}

  async show(userId: string): Promise<{ locks: ShownLock[]; limits: ShownLimit[] }> {
    const keys = await this.keysOf(userId);
    const [seconds, limits] = [
      await Promise.all(keys.map((key) => this.lockout.secondsLocked(key))),
      this.limits.ofAccount(keys, userId),
    ];
    const buckets = await Promise.all(limits.map((one) => this.store.peek(one)));
    return {
      locks: keys
        .map(({ purpose }, at) => ({ purpose, seconds: seconds[at]! }))
        .filter((lock) => lock.seconds > 0)
        .map((lock) => (Number.isFinite(lock.seconds) ? lock : { ...lock, seconds: null })),
      limits: limits
        .map(({ key, max: most }, at) => {
          const { counted: failures, secondsLeft } = buckets[at]!;
          return { name: key.split(':')[2]!, failures, most, seconds: Math.ceil(secondsLeft) };
        })
        .filter(({ failures }) => failures > 0),
    };
  }

  /** @param email of the account, whose mailed codes have a counter as well; null without one */
  async release(userId: string, email: string | null): Promise<void> {
    const keys = await this.keysOf(userId);
    await this.lockout.release([...keys, ...(email === null ? [] : [mailLock(email)])]);
    // A client that has failed too often waits for the rest of its minute.
    for (const one of this.limits.ofAccount(keys, userId)) await this.store.settle([one], 'succeeded');
  }

  /** The counters of failures that can lock a user. */
  private async keysOf(userId: string): Promise<LockKey[]> {
    const ofUser = USER_PURPOSES.map((purpose) => userLock(purpose, userId));
    return [...(await this.locks.ofUserId(userId)), ...ofUser];
  }
}
