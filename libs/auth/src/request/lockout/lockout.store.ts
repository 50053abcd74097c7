import { Injectable } from '@nestjs/common';
import { ulid } from 'ulid';
import { Clock } from '../../foundation/platform/clock';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { Database, type Sql } from '../../foundation/platform/database';
import { type SweptPage, once, sweep } from '../../foundation/platform/sweep';
import type { DeletedAccount } from '../../foundation/realm/feature-data';
import { Realm } from '../../foundation/realm/realm';
import { type Lock, secondsHeld } from './lockout.policy';
import { LockoutCounter } from './lockout.entity';
import { bounded, canonicalEmail } from '../../identity/users/identifiers';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** Number of rows that one statement of a sweep reads. */
const PAGE = 1000;

/** The columns of a {@link Lock}. @param offset the parameter with the offset of the clock */
const lockOf = (offset: string): string => `extract(epoch FROM locked_at)::float8 AS "lockedAt",
              extract(epoch FROM clock_timestamp() + ${offset}::interval)::float8 AS now`;

/** An attempt that was counted at one guard. */
export interface Reserved {
  readonly guard: string;
  /** The row of the counter. Another one counts after a release. */
  readonly id: string;
  /** Consecutive failures, including this attempt. */
  readonly attempts: number;
  /** The time of the lock that this attempt set, as PostgreSQL writes it; null if it set none. */
  readonly lockedAt: string | null;
}

/**
 * Contains all queries of lockout counters. Each guard has its own row, and a failure counts at every guard of the source that
 * has the lockout: otherwise each guard would allow as many guesses at one secret. Every transaction changes the rows in the
 * order of the guards, so no two of them wait for each other.
 */
@Injectable()
export class LockoutStore {
  private readonly table = once(() => this.database.table(LockoutCounter));
  private readonly counting = once(() => this.realm.source.guards.filter(({ features }) => features.lockout));

  constructor(
    private readonly database: Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
  ) {}

  /** Whether failures are counted at this guard, or at another one with the same users. */
  get isUsed(): boolean {
    return this.counting().length > 0;
  }

  /** The counter of this guard; null without one. */
  async find({ purpose, subject }: LockKey): Promise<Lock | null> {
    const [lock] = await this.database.query<Lock>(
      `SELECT ${lockOf('$4')} FROM ${this.table()} WHERE purpose = $1 AND subject = $2 AND guard = $3`,
      [purpose, subject, this.realm.guard, this.clock.offset],
    );
    return lock ?? null;
  }

  /** The locks of this guard, also those that have expired: the newest thousand, the newest first. */
  locks(): Promise<(LockKey & Lock)[]> {
    return this.database.query(
      `SELECT purpose, subject, ${lockOf('$2')} FROM ${this.table()}
        WHERE guard = $1 AND locked_at IS NOT NULL ORDER BY locked_at DESC LIMIT ${PAGE}`,
      [this.realm.guard, this.clock.offset],
    );
  }

  /**
   * Counts one attempt at every guard of the source, or returns null, without counting, while the lock of this guard is
   * active. The row of another guard with an active lock does not change.
   */
  async reserve(key: LockKey): Promise<Reserved[] | null> {
    const refused = new Error('rolled back');
    // In a transaction, so that an attempt that was answered 503 is not counted afterwards.
    const reserving = this.database.transaction(async (sql) => {
      const reserved: Reserved[] = [];
      for (const guard of this.counting()) {
        const counted = await this.reserveAt(guard, key, sql);
        if (counted) reserved.push(counted);
        else if (guard.guard === this.realm.guard) throw refused;
      }
      return reserved;
    });
    return reserving.catch((error: unknown) => {
      if (error !== refused) throw error;
      return null;
    });
  }

  /**
   * Counts one attempt at one guard. Returns null, without counting, while its lock is active. After an expired lock, counting
   * starts again at 1.
   *
   * One statement decides, so concurrent first failures make one row, and exactly one attempt sets the lock. The
   * statement never updates an active lock, so a counter that is locked afterwards was locked by this attempt.
   */
  private async reserveAt(
    { guard, lockout }: GuardConfig,
    { purpose, subject }: LockKey,
    sql: Sql,
  ): Promise<Reserved | null> {
    const next = 'CASE WHEN l.locked_at IS NULL THEN l.attempts + 1 ELSE 1 END';
    const statement = `
      INSERT INTO ${this.table()} AS l (id, purpose, subject, guard, attempts, locked_at, created_at, updated_at)
      SELECT $1, $2, $3, $4, 1, CASE WHEN 1 >= $5::int THEN now END, now, now
        FROM (SELECT clock_timestamp() + $7::interval AS now) AS moment
      ON CONFLICT (purpose, subject, guard) DO UPDATE
         SET attempts = ${next},
             locked_at = CASE WHEN ${next} >= $5::int THEN excluded.updated_at END,
             updated_at = excluded.updated_at
       WHERE l.locked_at IS NULL
          OR ($6::float8 > 0 AND l.locked_at + $6 * interval '1 second' <= excluded.updated_at)
      RETURNING guard, id, attempts, locked_at::text AS "lockedAt"`;
    const { maxAttempts, releaseAfter } = lockout;
    const values = [ulid(), purpose, subject, guard, maxAttempts, releaseAfter, this.clock.offset];
    const [reserved] = await sql<Reserved>(statement, values);
    return reserved ?? null;
  }

  /**
   * Takes back an attempt that was not a failure, with the locks that it set. A lock of another attempt remains. In a
   * transaction, so that a call that is not answered in time can be repeated.
   *
   * @returns the guards at which the attempt was still counted
   */
  returnAttempt(reserved: readonly Reserved[]): Promise<Reserved[]> {
    return this.database.transaction(async (sql) => {
      const returned: Reserved[] = [];
      for (const counted of reserved) {
        const rows = await sql(
          `UPDATE ${this.table()} SET attempts = attempts - 1, locked_at = NULL
            WHERE id = $1 AND attempts > 0 AND locked_at IS NOT DISTINCT FROM $2::timestamptz
           RETURNING id`,
          [counted.id, counted.lockedAt],
        );
        if (rows.length) returned.push(counted);
      }
      return returned;
    });
  }

  /** Deletes counters at all guards of the source, in their order, and resolves to those that existed. */
  async remove(keys: readonly LockKey[]): Promise<Released[]> {
    const { guards, names } = this.realm.source;
    const rows = await this.database.query<LockKey & Lock & { guard: string; attempts: number }>(
      `DELETE FROM ${this.table()}
        WHERE guard = ANY($1::text[]) AND (purpose, subject) IN (SELECT * FROM unnest($2::text[], $3::text[]))
          AND id = ANY(ARRAY(
         SELECT id FROM ${this.table()}
          WHERE guard = ANY($1::text[]) AND (purpose, subject) IN (SELECT * FROM unnest($2::text[], $3::text[]))
          ORDER BY array_position($1::text[], guard::text), id FOR UPDATE))
       RETURNING guard, purpose, subject, attempts, ${lockOf('$4')}`,
      [names, keys.map(({ purpose }) => purpose), keys.map(({ subject }) => subject), this.clock.offset],
    );
    const released = new Map(
      rows.map(({ purpose, subject }) => [JSON.stringify([purpose, subject]), { purpose, subject }]),
    );
    return [...released.values()].map((key) => {
      const own = rows.filter(({ purpose, subject }) => purpose === key.purpose && subject === key.subject);
      const isLocked = ({ guard, features, lockout }: GuardConfig): boolean =>
        features.lockout && own.some((row) => row.guard === guard && secondsHeld(row, lockout.releaseAfter) > 0);
      return {
        ...key,
        lockedGuards: guards.filter(isLocked).map(({ guard }) => guard),
        attempts: Math.max(...own.map(({ attempts }) => attempts)),
        wasLocked: own.some(({ lockedAt }) => lockedAt !== null),
      };
    });
  }

  /**
   * Deletes unlocked counters without a failure for `days`, and expired locks. An active lock remains, whatever its age.
   * Reads pages of rows, in the order of their ids, and skips rows that are locked by another transaction.
   *
   * @returns the number of deleted rows
   */
  prune(days: number): Promise<number> {
    const statement = `
      WITH moment AS (SELECT clock_timestamp() + $5::interval AS now),
           page AS MATERIALIZED (SELECT id FROM ${this.table()} WHERE id > $1 ORDER BY id LIMIT ${PAGE}),
           lapsed AS MATERIALIZED (
             SELECT l.id FROM ${this.table()} l JOIN page USING (id), moment
              WHERE l.guard = $2
                AND ((l.locked_at IS NULL AND l.updated_at < now - $3 * interval '1 day')
                  OR ($4::float8 > 0 AND l.locked_at + $4 * interval '1 second' <= now))
                FOR UPDATE OF l SKIP LOCKED),
           gone AS (DELETE FROM ${this.table()} WHERE id IN (SELECT id FROM lapsed) RETURNING 1)
      SELECT (SELECT count(*)::int FROM gone) AS removed, (SELECT max(id) FROM page) AS next`;
    const { guard, options } = this.realm;
    return sweep('', async (after) => {
      const values = [after, guard, days, options.lockout.releaseAfter, this.clock.offset];
      const [swept] = await this.database.query<SweptPage<string>>(statement, values);
      return swept!;
    });
  }
}

declare module '../../foundation/realm/feature-data' {
  interface Pruned {
    lockoutCounters: number;
  }
}

/** Begins the key of an identifier that is counted by its spelling. */
const IDENTIFIER = 'idn:';

/** The secrets that a lock protects: the password at login, the second factor, the password at step-up. */
export const LOCK_PURPOSES = ['login', 'two_factor', 'confirm'] as const;

/** The purposes whose counters are those of a user by its id. */
export const USER_PURPOSES = ['two_factor', 'confirm'] as const;

export type LockPurpose = (typeof LOCK_PURPOSES)[number];

/** Identifies a counter of failures: a purpose and a subject. An empty subject is never counted. */
export interface LockKey {
  readonly purpose: LockPurpose;
  readonly subject: string;
}

/** A counter that was cleared. */
export interface Released extends LockKey {
  /** The guards at which it was locked. None for a counter of fewer failures, and for a lock that had expired. */
  readonly lockedGuards: readonly string[];
  /** The largest number of attempts that it had counted at one guard. */
  readonly attempts: number;
  /** Whether a lock was set, which may have expired. */
  readonly wasLocked: boolean;
}

/**
 * Returns the key under which failed logins are counted, by the lock and by the limits. An account is counted by its user
 * id, so a look-alike identifier cannot lock or release it. An identifier without an account is counted too: otherwise
 * the response would show which accounts exist. Two spellings share this counter exactly if the look-up treats them as
 * one identifier: otherwise the response to one would show whether the other one has an account.
 *
 * @param userId the account of the identifier, or null
 * @param spelling the identifier as the look-up compares it: see `TimedUserProvider.spellingOf`
 */
export function loginLock(userId: string | null, spelling: string): LockKey {
  const unknown = spelling && IDENTIFIER + bounded(spelling);
  return { purpose: 'login', subject: userId === null ? unknown : `id:${bounded(userId)}` };
}

/** The identifier of a key of a {@link loginLock} that counts by spelling; empty for any other key. */
export const spellingIn = ({ purpose, subject }: LockKey): string =>
  purpose === 'login' && subject.startsWith(IDENTIFIER) ? subject.slice(IDENTIFIER.length) : '';

/** No identifier has this prefix in a key: those of identifiers begin with `idn:`. */
const MAIL = 'mail:';

/**
 * Returns the key under which wrong mailed codes are counted where the email is not the identifier. It is that of the address,
 * whether or not it has an account: the counter of the account would show which identifier has the address.
 */
export const mailLock = (email: string): LockKey => ({
  purpose: 'login',
  subject: `${MAIL}${bounded(canonicalEmail(email))}`,
});

/** The address of the key of a {@link mailLock}, as an operator writes it; null for any other text. */
export const mailOf = (subject: string): string | null =>
  subject.startsWith(MAIL) ? subject.slice(MAIL.length) : null;

/** Returns the id of the account that a key counts for; null for an identifier without an account. */
export const lockedUserId = ({ purpose, subject }: LockKey): string | null =>
  purpose === 'login' ? (/^id:(.*)$/s.exec(subject)?.[1] ?? null) : subject;

/** Returns the key of a lock for an authenticated user. Ids are compared exactly, including case. */
export const userLock = (purpose: (typeof USER_PURPOSES)[number], userId: string): LockKey => ({
  purpose,
  subject: bounded(userId),
});

/** The subjects of all failure counters of an account: its id at the login, its id elsewhere, its identifier, its email. */
export const erasedSubjects = ({ userId, spellings, email }: DeletedAccount): string[] =>
  [
    loginLock(userId, ''),
    userLock('confirm', userId),
    ...spellings.map((spelling) => loginLock(null, spelling)),
    mailLock(email ?? ''),
  ]
    .map(({ subject }) => subject)
    .filter(Boolean);

/**
 * Names the counters of failed logins, for the lock and for the limits.
 *
 * With `registration.concealExisting` every identifier is counted by its spelling, whether or not it has an account. Otherwise
 * the counter would move when an account is created, verified or deleted, and the next answer would show it: 422 where
 * 429 or 423 was due.
 */
@Injectable()
export class LoginLocks {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly realm: Realm,
  ) {}

  /**
   * The counter of a login with an identifier.
   *
   * @param userId the account that the identifier names; null for none
   */
  of(identifier: string, userId: string | null): LockKey {
    return loginLock(this.areBySpelling ? null : userId, this.users.spellingOf(identifier));
  }

  /** The counters of a user, which a success clears: by its id, and by its identifier where that is counted. */
  ofUser(user: object): LockKey[] {
    const byId = loginLock(this.users.idOf(user), '');
    return this.areBySpelling ? [byId, this.of(this.users.identifierOf(user) ?? '', null)] : [byId];
  }

  /** The counters of the user with an id. @throws StoreUnavailable */
  async ofUserId(userId: string): Promise<LockKey[]> {
    const user = this.areBySpelling ? await this.users.findById(userId) : null;
    return user ? this.ofUser(user) : [loginLock(userId, '')];
  }

  /**
   * The account with the identifier of a counter; null for none, and for one whose email is not verified. An identifier of more
   * than 190 bytes is stored as a hash, from which no account is found.
   *
   * @throws StoreUnavailable
   */
  async ownerOf(key: LockKey): Promise<string | null> {
    const found = await this.users.findByIdentifier(spellingIn(key));
    return found && this.users.isEmailVerified(found.user) === true ? this.users.idOf(found.user) : null;
  }

  /**
   * The spelling of a user's identifier whose counter ends with the account. Empty where identifiers are counted whether or not
   * they have an account: the end of the counter would show the deletion.
   */
  async erasedSpellingOf(userId: string): Promise<string> {
    const user = this.areBySpelling ? null : await this.users.findById(userId);
    return user ? this.users.spellingOf(this.users.identifierOf(user) ?? '') : '';
  }

  /** Whether counters belong to identifiers, and not to accounts. At all guards with the same users, which count together. */
  get areBySpelling(): boolean {
    return this.realm.source.guards.some(({ facts }) => facts.concealsAccounts);
  }
}
