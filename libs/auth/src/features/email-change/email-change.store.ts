import { Injectable } from '@nestjs/common';
import { Clock, Realm, deadline, identity, pg, session } from '../../kit';
import { EmailChange } from './email-change.entity';
import { type EmailChangeState, type EmailChangeStep, transition } from './email-change.policy';

/** A request as it is stored. */
export interface EmailChangeRequest {
  readonly id: string;
  readonly userId: string;
  readonly sessionId: string | null;
  readonly from: string | null;
  readonly wasVerified: boolean;
  readonly to: string;
  readonly confirmHash: string;
  readonly fingerprint: string;
}

/** A change that was found by the token of a link. */
export interface StoredEmailChange extends Omit<EmailChangeRequest, 'confirmHash'> {
  readonly state: EmailChangeState;
  readonly isExpired: boolean;
  readonly requestedAt: Date;
  /** Null before the change. */
  readonly confirmedAt: Date | null;
  /** Whether the former address gets a link that undoes the change. */
  readonly isUndoable: boolean;
  /** After the undo, the hash that replaces the password: of a text that is not stored. Null before it. */
  readonly unusableHash: string | null;
}

/** A change of email in the export of an account. Times are ISO 8601 in UTC. */
export interface ExportedEmailChange {
  from: string | null;
  to: string;
  requested_at: string;
  confirmed_at: string | null;
  undone_at: string | null;
}

declare module '../../foundation/realm/feature-data' {
  interface ExportedData {
    /** Requested and made changes of the email, until their links expire. */
    email_changes?: ExportedEmailChange[];
  }
  interface Pruned {
    emailChanges: number;
  }
}

/** The changes whose former address is held. */
const HOLDING: readonly EmailChangeState[] = ['changed', 'confirmed'];

/**
 * Contains all queries of changes of email, restricted to the realm's guard. Each transition is one statement, whose condition
 * is a row of the state machine.
 */
@Injectable()
export class EmailChangeStore {
  private readonly table = pg.once(() => this.database.table(EmailChange));

  constructor(
    private readonly database: pg.Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
  ) {}

  /**
   * Stores a request, and replaces the previous one of the user. It expires with its session at the latest: later, the row of
   * the session may be pruned, and its end unknown. The time is that of the first of several requests: the undo
   * removes the factors that were added since.
   */
  async request(
    sql: pg.Sql,
    { id, userId, sessionId, from, wasVerified, to, confirmHash, fingerprint }: EmailChangeRequest,
  ) {
    const columns = [
      'id',
      'session_id',
      'old_email',
      'old_verified',
      'new_email',
      'confirm_hash',
      'password_fingerprint',
    ];
    const replaced = [...columns, 'expires_at'].map((column) => `${column} = excluded.${column}`);
    await sql(
      `INSERT INTO ${this.table()} AS t (guard, user_id, state, ${columns.join(', ')}, requested_at, expires_at)
       SELECT $1, $2, $3, $4, $5, $6, $7::boolean, $8, $9, $10, now, least(now + $11::float8 * interval '1 minute', $13::timestamptz)
         FROM (SELECT clock_timestamp() + $12::interval AS now) AS moment
       ON CONFLICT (guard, user_id) WHERE state = 'requested' DO UPDATE SET ${replaced.join(', ')},
              requested_at = CASE WHEN t.expires_at > excluded.requested_at THEN t.requested_at ELSE excluded.requested_at END`,
      [
        this.realm.guard,
        userId,
        transition('request').to,
        id,
        sessionId,
        from,
        wasVerified,
        to,
        confirmHash,
        fingerprint,
        this.options.expireMinutes,
        this.clock.offset,
        await this.deadlineOf(sql, sessionId),
      ],
    );
  }

  /** The deadline of a session; null for a session of a co-issuer, which has no row here. */
  private async deadlineOf(sql: pg.Sql, sessionId: string | null): Promise<string | null> {
    if (sessionId === null || !pg.isUuid(sessionId)) return null;
    const statement = `SELECT expires_at::text AS deadline FROM ${this.database.table(session.Session)} WHERE id = $1 AND guard = $2`;
    const [current] = await sql<{ deadline: string }>(statement, [sessionId, this.realm.guard]);
    return current?.deadline ?? null;
  }

  /** Finds a change by the hash of the token in one of its links. */
  async find(link: 'confirm' | 'undo', hash: string): Promise<StoredEmailChange | null> {
    const [found] = await this.database.query<StoredEmailChange>(
      `SELECT id, user_id AS "userId", session_id AS "sessionId", old_email AS "from", old_verified AS "wasVerified", new_email AS "to", state,
              expires_at <= clock_timestamp() + $3::interval AS "isExpired", password_fingerprint AS fingerprint,
              requested_at AS "requestedAt", confirmed_at AS "confirmedAt", undo_hash IS NOT NULL AS "isUndoable",
              unusable_hash AS "unusableHash"
         FROM ${this.table()} WHERE guard = $1 AND ${link}_hash = $2`,
      [this.realm.guard, hash, this.clock.offset],
    );
    return found ?? null;
  }

  /**
   * Records that the new address is stored. Returns false if the request was replaced, has expired or was confirmed.
   *
   * @param undo the hash of the token that undoes the change, and the former address, which is held; null for neither
   */
  async confirm(sql: pg.Sql, id: string, undo: { hash: string; email: string } | null): Promise<boolean> {
    const { from, to } = transition('confirm');
    const held = undo && identity.canonicalEmail(undo.email);
    const confirmed = await sql(
      `UPDATE ${this.table()} SET state = $4, undo_hash = $5, held_email = $8, confirmed_at = now,
              expires_at = now + $6::float8 * interval '1 day'
         FROM (SELECT clock_timestamp() + $7::interval AS now) AS moment
        WHERE guard = $1 AND id = $2 AND state = ANY($3) AND expires_at > now RETURNING 1`,
      [this.realm.guard, id, from, to, undo?.hash ?? null, this.options.undoDays, this.clock.offset, held],
    );
    return confirmed.length === 1;
  }

  /**
   * Records that the former address is stored again, and ends all later changes of the user and the outstanding requests, at
   * all guards of the source.
   * Returns false if the change has expired, or was undone.
   *
   * @param unusableHash replaces the password, also when a repeated request does it
   */
  async undo(
    sql: pg.Sql,
    { id, userId }: Pick<StoredEmailChange, 'id' | 'userId'>,
    unusableHash: string,
  ): Promise<boolean> {
    const [undo, supersede] = [transition('undo'), transition('supersede')];
    const [undone] = await sql<{ since: string }>(
      `UPDATE ${this.table()} SET state = $4, undone_at = now, unusable_hash = $6
         FROM (SELECT clock_timestamp() + $5::interval AS now) AS moment
        WHERE guard = $1 AND id = $2 AND state = ANY($3) AND expires_at > now RETURNING confirmed_at::text AS since`,
      [this.realm.guard, id, undo.from, undo.to, this.clock.offset, unusableHash],
    );
    if (!undone) return false;
    await sql(
      `UPDATE ${this.table()} SET state = $4
        WHERE guard = ANY($1) AND user_id = $2 AND state = ANY($3) AND (confirmed_at IS NULL OR confirmed_at > $5::timestamptz)`,
      [this.realm.source.names, userId, supersede.from, supersede.to, undone.since],
    );
    return true;
  }

  /** Whether the former address is stored again, and the access may not have ended yet. */
  async isRestored(id: string): Promise<boolean> {
    const statement = `SELECT 1 FROM ${this.table()} WHERE guard = $1 AND id = $2 AND state = $3`;
    return (await this.database.query(statement, [this.realm.guard, id, transition('undo').to])).length === 1;
  }

  /** Makes a step that has no condition besides the state. Returns true for one of several calls. */
  async advance(step: EmailChangeStep, id: string): Promise<boolean> {
    const { from, to } = transition(step);
    const statement = `
      UPDATE ${this.table()} SET state = $4 WHERE guard = $1 AND id = $2 AND state = ANY($3) RETURNING 1`;
    return (await this.database.query(statement, [this.realm.guard, id, from, to])).length === 1;
  }

  /**
   * The id of the user for whom an address is held: it is the former address of a change that can still be undone. One that was
   * not verified is none of them: otherwise an account with the address of another person could prevent that the person registers.
   * A registration cannot take one: otherwise a thief who has changed the address of an account could register the former one, and
   * so prevent the undo. A registration proves no access to the mailbox. A change of email does, so it can take the address.
   */
  async holderOf(email: string): Promise<string | null> {
    const [held] = await this.database.query<{ userId: string }>(
      `SELECT user_id AS "userId" FROM ${this.table()} WHERE guard = ANY($1) AND held_email = $2 AND state = ANY($3)
          AND expires_at > clock_timestamp() + $4::interval LIMIT 1`,
      [this.realm.source.names, identity.canonicalEmail(email), HOLDING, this.clock.offset],
    );
    return held?.userId ?? null;
  }

  private get options() {
    return this.realm.options.emailChange;
  }
}

/** Number of rows that one statement of the sweep reads. */
const PAGE = 1000;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Reads and deletes rows, whether or not the feature is on: rows from the time when it was on remain. */
@Injectable()
export class EmailChangeRows {
  private readonly table = pg.once(() => this.database.table(EmailChange));

  constructor(
    private readonly database: pg.Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
  ) {}

  /** The changes of a user, the oldest first; none when the table does not exist. */
  async list(userId: string): Promise<ExportedEmailChange[]> {
    const rows = await this.database
      .query<Record<'requestedAt' | 'confirmedAt' | 'undoneAt', Date | null> & ExportedEmailChange>(
        `SELECT old_email AS "from", new_email AS "to", requested_at AS "requestedAt", confirmed_at AS "confirmedAt",
                undone_at AS "undoneAt"
           FROM ${this.table()} WHERE guard = $1 AND user_id = $2 ORDER BY requested_at, id`,
        [this.realm.guard, userId],
      )
      .catch(deadline.valueIf(pg.isMissing, []));
    return rows.map(({ from, to, requestedAt, confirmedAt, undoneAt }) => ({
      from,
      to,
      requested_at: requestedAt!.toISOString(),
      confirmed_at: confirmedAt?.toISOString() ?? null,
      undone_at: undoneAt?.toISOString() ?? null,
    }));
  }

  /** Deletes the expired changes of all guards, and resolves to their number; 0 when the table does not exist. */
  prune(): Promise<number> {
    return pg.sweep<string>(FIRST_ID, (after) => this.page(after));
  }

  /** Deletes the expired rows of one page, in the order of the key. Skips rows that another transaction has locked. */
  private async page(after: string): Promise<pg.SweptPage<string>> {
    const statement = `
      WITH page AS MATERIALIZED (SELECT id FROM ${this.table()} WHERE id > $1::uuid ORDER BY id LIMIT ${PAGE}),
           expired AS MATERIALIZED (
             SELECT id FROM ${this.table()} t JOIN page USING (id)
              WHERE t.expires_at <= clock_timestamp() + $2::interval FOR UPDATE OF t SKIP LOCKED),
           gone AS (DELETE FROM ${this.table()} WHERE id IN (SELECT id FROM expired) RETURNING 1)
      SELECT (SELECT count(*)::int FROM gone) AS removed, (SELECT id::text FROM page ORDER BY id DESC LIMIT 1) AS next`;
    const [swept] = await this.database.query<pg.SweptPage<string>>(statement, [after, this.clock.offset]);
    return swept!;
  }
}
