import { Injectable } from '@nestjs/common';
import { Clock, Realm, pg } from '../../../kit';
import { SecurityEventRow } from './security-event.entity';

declare module '../../../foundation/realm/feature-data' {
  interface Pruned {
    securityEvents: number;
  }
}

/** A token to deliver. */
export interface NewSecurityEvent {
  readonly userId: string;
  readonly receiver: string;
  readonly claims: object;
}

/** A token that this process delivers. */
export interface ClaimedEvent {
  readonly position: string;
  /** With the current one. */
  readonly attempts: number;
  readonly claims: object;
}

/** Seconds for which a claimed row is not claimed again: longer than an attempt. A process that was killed loses its claims then. */
const CLAIM_SECONDS = 60;

/** Days after which a token is given up that its receiver has not judged. */
const PATIENT_DAYS = 3;

/** Days for which a token that was given up stays, for the operator. */
const KEPT_DAYS = 30;

/** Number of rows that one statement gives up, and that one step of the pruning deletes. */
const PAGE = 500;

const NOW = 'clock_timestamp() + $2::interval';

/** Contains all queries of security events, restricted to the realm's guard. Times are from the database's clock. */
@Injectable()
export class SecurityEventStore {
  private readonly table = pg.once(() => this.database.table(SecurityEventRow));

  constructor(
    private readonly database: pg.Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
  ) {}

  /** Stores tokens in their order. */
  async add(events: readonly NewSecurityEvent[]): Promise<void> {
    await this.run(
      `INSERT INTO ${this.table()} (guard, user_id, receiver, claims, created_at, due_at)
       SELECT $1, e.user_id, e.receiver, e.claims::json, ${NOW}, ${NOW}
         FROM unnest($3::text[], $4::text[], $5::text[]) WITH ORDINALITY e (user_id, receiver, claims, n) ORDER BY e.n`,
      events.map(({ userId }) => userId),
      events.map(({ receiver }) => receiver),
      events.map(({ claims }) => JSON.stringify(claims)),
    );
  }

  /**
   * Claims the next tokens of a receiver: of each user only the first that is left, so the events of a user stay in order. A row
   * that another process claims at the same time is no longer due when its lock is free.
   *
   * The first one is found by the index of the user: with the statistics of an almost empty table, PostgreSQL would read all rows of
   * the receiver for it, if it could find them by plain columns.
   */
  claim(receiver: string, most: number): Promise<ClaimedEvent[]> {
    return this.run(
      `WITH heads AS MATERIALIZED (
         SELECT e.position FROM ${this.table()} e
          WHERE e.guard = $1 AND e.receiver = $3 AND e.dead_at IS NULL AND e.due_at <= ${NOW}
            AND e.position = (SELECT f.position FROM ${this.table()} f WHERE f.user_id = e.user_id AND f.dead_at IS NULL
                  AND f.guard || ' ' || f.receiver = e.guard || ' ' || e.receiver ORDER BY f.position LIMIT 1)
          ORDER BY e.due_at, e.position LIMIT $4)
       UPDATE ${this.table()} SET attempts = attempts + 1, due_at = ${NOW} + interval '${CLAIM_SECONDS} seconds'
        WHERE position IN (SELECT position FROM heads) AND dead_at IS NULL AND due_at <= ${NOW}
       RETURNING position, attempts, claims`,
      receiver,
      most,
    );
  }

  /** Deletes a token that its receiver has accepted. */
  async remove(position: string): Promise<void> {
    await this.database.query(`DELETE FROM ${this.table()} WHERE position = $1`, [position]);
  }

  /** Ends the claim of a token. @param seconds until the next attempt; null to give the token up */
  async release(position: string, failure: string | null, seconds: number | null): Promise<void> {
    await this.run(
      `UPDATE ${this.table()} SET failure = coalesce($4, failure), due_at = ${NOW} + coalesce($5::int, 0) * interval '1 second',
              dead_at = CASE WHEN $5::int IS NULL THEN ${NOW} END
        WHERE guard = $1 AND position = $3`,
      position,
      failure,
      seconds,
    );
  }

  /** Gives up the oldest tokens of a receiver that does not answer, and resolves to their number. */
  async giveUp(receiver: string): Promise<number> {
    const given = await this.run(
      `WITH oldest AS MATERIALIZED (
         SELECT position, created_at FROM ${this.table()} WHERE guard = $1 AND receiver = $3 AND dead_at IS NULL
          ORDER BY due_at LIMIT ${PAGE})
       UPDATE ${this.table()} SET dead_at = ${NOW}, failure = coalesce(failure, 'not attempted')
        WHERE position IN (SELECT position FROM oldest WHERE created_at <= ${NOW} - interval '${PATIENT_DAYS} days')
       RETURNING 1`,
      receiver,
    );
    return given.length;
  }

  /** Whether a token was given up. */
  async hasDead(): Promise<boolean> {
    const statement = `SELECT 1 FROM ${this.table()} WHERE guard = $1 AND dead_at IS NOT NULL LIMIT 1`;
    return (await this.database.query(statement, [this.realm.guard])).length > 0;
  }

  /** Makes the tokens due again that were given up, and resolves to their number. */
  async revive(): Promise<number> {
    const revived = await this.run(
      `UPDATE ${this.table()} SET dead_at = NULL, attempts = 0, created_at = ${NOW}, due_at = ${NOW}
        WHERE guard = $1 AND dead_at IS NOT NULL RETURNING 1`,
    );
    return revived.length;
  }

  /** Deletes old tokens that were given up, and those of receivers that no options name any more. Resolves to their number. */
  prune(): Promise<number> {
    const page = async (): Promise<pg.SweptPage<true>> => {
      const deleted = await this.run(
        `WITH page AS MATERIALIZED (
           SELECT position FROM ${this.table()} WHERE guard = $1 AND (dead_at <= ${NOW} - interval '${KEPT_DAYS} days'
                  OR created_at <= ${NOW} - interval '${KEPT_DAYS + PATIENT_DAYS} days') LIMIT ${PAGE})
         DELETE FROM ${this.table()} WHERE position IN (SELECT position FROM page) RETURNING 1`,
      );
      return { removed: deleted.length, next: deleted.length < PAGE ? null : true };
    };
    return pg.sweep(true, page, pg.isMissing);
  }

  /** Runs a statement whose first parameters are those of the guard and of {@link NOW}. */
  private run<Row>(statement: string, ...values: unknown[]): Promise<Row[]> {
    return this.database.query(statement, [this.realm.guard, this.clock.offset, ...values]);
  }
}
