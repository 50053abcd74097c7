import { Injectable } from '@nestjs/common';
import { ulid } from 'ulid';
import { Clock } from '../../foundation/platform/clock';
import { Database } from '../../foundation/platform/database';
import { type SweptPage, once, sweep } from '../../foundation/platform/sweep';
import { Realm } from '../../foundation/realm/realm';
import type { Lock } from './lockout.policy';
import { LockoutCounter } from './lockout.entity';
import { bounded, foldedIdentifier } from '../../identity/users/identifiers';

/** Rows that one statement of a sweep looks at. */
const PAGE = 1000;

/** A counted attempt. */
export interface Reserved {
  /** Consecutive failures, this attempt among them. */
  attempts: number;
  /** Whether this attempt is the one that locked. */
  locks: boolean;
}

/** Every query of lockout counters. Adds the guard itself. */
@Injectable()
export class LockoutStore {
  private readonly table = once(() => this.database.table(LockoutCounter));

  constructor(
    private readonly database: Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
  ) {}

  async find({ purpose, subject }: LockKey): Promise<Lock | null> {
    const [lock] = await this.database.query<Lock>(
      `SELECT extract(epoch FROM locked_at)::float8 AS "lockedAt",
              extract(epoch FROM clock_timestamp() + $4::interval)::float8 AS now
         FROM ${this.table()} WHERE purpose = $1 AND subject = $2 AND guard = $3`,
      [purpose, subject, this.realm.guard, this.clock.offset],
    );
    return lock ?? null;
  }

  /**
   * Counts one attempt, or none and null where a lock holds. A lapsed lock starts a new run.
   *
   * One statement decides: two first failures make one row, and of all attempts exactly one locks. Only a
   * counter that does not hold is ever updated, so one that is locked afterwards was locked by this attempt.
   */
  async reserve({ purpose, subject }: LockKey): Promise<Reserved | null> {
    const { maxAttempts, releaseAfter } = this.realm.options.lockout;
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
      RETURNING attempts, locked_at IS NOT NULL AS locks`;
    const values = [ulid(), purpose, subject, this.realm.guard, maxAttempts, releaseAfter, this.clock.offset];
    // A transaction, so that an attempt that was answered 503 is not counted behind its back.
    const [reserved] = await this.database.transaction((sql) => sql<Reserved>(statement, values));
    return reserved ?? null;
  }

  /** Takes an attempt back that was never verified. What it locked stays locked. */
  async returnAttempt({ purpose, subject }: LockKey): Promise<void> {
    await this.database.query(
      `UPDATE ${this.table()} SET attempts = attempts - 1
        WHERE purpose = $1 AND subject = $2 AND guard = $3 AND locked_at IS NULL AND attempts > 0`,
      [purpose, subject, this.realm.guard],
    );
  }

  /** Deletes counters, and resolves to those that existed. */
  remove(keys: readonly LockKey[]): Promise<LockKey[]> {
    return this.database.query<LockKey>(
      `DELETE FROM ${this.table()}
        WHERE guard = $1 AND (purpose, subject) IN (SELECT * FROM unnest($2::text[], $3::text[]))
       RETURNING purpose, subject`,
      [this.realm.guard, keys.map(({ purpose }) => purpose), keys.map(({ subject }) => subject)],
    );
  }

  /**
   * Deletes counters that never locked and saw no failure for `days`, and locks that have let go. A lock
   * that holds stays, whatever its age. Looks at one page of rows, in the order of their ids, and leaves those
   * that someone is counting in.
   *
   * @param after where the page starts: the last id of the page before
   * @returns how many were deleted, and the last id of the page; null when there are no more
   */
  async prune(days: number, after: string): Promise<SweptPage<string>> {
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
    const values = [after, guard, days, options.lockout.releaseAfter, this.clock.offset];
    const [swept] = await this.database.query<SweptPage<string>>(statement, values);
    return swept!;
  }
}

/** Sweeps the realm's lockout counters. */
@Injectable()
export class LockoutPruning {
  constructor(private readonly store: LockoutStore) {}

  /**
   * Deletes what counts no more, and resolves to how many rows that were; none without the table.
   *
   * @param days since the last failure after which an unlocked counter goes
   */
  prune(days: number): Promise<number> {
    return sweep('', (after) => this.store.prune(days, after));
  }
}

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
