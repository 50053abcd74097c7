import { Injectable } from '@nestjs/common';
import { Clock } from '../../foundation/platform/clock';
import { Database, isUuid } from '../../foundation/platform/database';
import { Realm } from '../../foundation/realm/realm';
import { Sessions } from './sessions';
import type { SessionEndReason } from './sessions.events';
import { SessionNotFound } from './sessions.errors';
import { ACTING, Session } from './session.entity';
import { endOf, epoch } from './session.sql';

/** A live session in the list of its owner. Times are ISO 8601 in UTC. */
export interface ListedSession {
  id: string;
  created_at: string;
  last_used_at: string;
  /** When it ends if it is not used again: at its deadline, or after its idle time. */
  expires_at: string;
  ip: string | null;
  user_agent: string | null;
  label: string | null;
  /** Who uses it: an operator can act as the user. */
  actor: 'user' | 'operator';
  /** Whether it is the session of the request. */
  current: boolean;
}

/** A session in the export of an account. Times are ISO 8601 in UTC. */
interface ExportedSession {
  session: string;
  created_at: string;
  last_rotated_at: string | null;
  revoked_at: string | null;
  /** When it ends, or would have ended, without another use: at its deadline, or after its idle time. */
  expires_at: string;
}

declare module '../../foundation/realm/feature-data' {
  interface ExportedData {
    sessions: ExportedSession[];
  }
  interface Pruned {
    sessions: number;
  }
}

type Row = Pick<Session, 'id' | 'ip' | 'userAgent' | 'label' | 'origin'> &
  Record<'createdAt' | 'lastUsedAt' | 'endsAt', number>;

/** Maximum number of sessions in a list, so that a user with very many sessions cannot fill the memory of a node. */
const MAX_LISTED = 100;

const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();
const isoOrNull = (seconds: number | null): string | null => (seconds === null ? null : iso(seconds));

/** Lists the sessions of one user, and ends one of them. */
@Injectable()
export class SessionList {
  constructor(
    private readonly database: Database,
    private readonly sessions: Sessions,
    private readonly realm: Realm,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the user's live sessions on this guard, the most recently used first: at most 100, including the session of
   * the request.
   *
   * @param current the session of the request; null for a token without a session
   */
  async list(userId: string, current: string | null): Promise<ListedSession[]> {
    const { guard, options } = this.realm;
    const { idleTimeout } = options.sessions;
    const rows = await this.database.query<Row>(
      `SELECT id, ${epoch('created_at')} AS "createdAt", ip, user_agent AS "userAgent", label, origin,
              ${epoch('last_used_at')} AS "lastUsedAt",
              ${epoch(endOf('$5'))} AS "endsAt"
         FROM ${this.database.table(Session)} s
        WHERE guard = $1 AND user_id = $2 AND revoked_at IS NULL AND ${endOf('$5')} >= clock_timestamp() + $3::interval
        ORDER BY id::text = $4 DESC, last_used_at DESC, id LIMIT ${MAX_LISTED}`,
      // A co-issuer's session id may contain characters that a PostgreSQL text cannot contain.
      [guard, userId, this.clock.offset, current !== null && isUuid(current) ? current : '', idleTimeout || null],
    );
    const inOrder = rows.toSorted((a, b) => b.lastUsedAt - a.lastUsedAt);
    return inOrder.map(({ id, createdAt, lastUsedAt, endsAt, ip, userAgent, label, origin }) => ({
      id,
      created_at: iso(createdAt),
      last_used_at: iso(lastUsedAt),
      expires_at: iso(endsAt),
      ip,
      user_agent: userAgent,
      label,
      actor: origin?.startsWith(ACTING) ? 'operator' : 'user',
      current: id === current,
    }));
  }

  /** When the user signed in the last time, of the sessions that are kept; null for none. */
  async lastSignIn(userId: string): Promise<string | null> {
    const newest = (condition: string): string => `
      (SELECT ${epoch('created_at')} AS at FROM ${this.database.table(Session)}
        WHERE guard = $1 AND user_id = $2 AND ${condition} AND coalesce(origin, '') NOT LIKE '${ACTING}%'
        ORDER BY created_at DESC LIMIT 1)`;
    const [row] = await this.database.query<{ at: number | null }>(
      `SELECT max(at) AS at FROM (${newest('revoked_at IS NULL')} UNION ALL ${newest('revoked_at IS NOT NULL')}) s`,
      [this.realm.guard, userId],
    );
    return isoOrNull(row!.at);
  }

  /** Ends a session of the user. @throws SessionNotFound for every other id */
  async end(userId: string, id: string, reason: SessionEndReason = 'revoked'): Promise<void> {
    if (!isUuid(id) || !(await this.isOwn(userId, id))) throw new SessionNotFound();
    await this.sessions.end(id, reason);
  }

  /** Also true for an ended session, so ending a session twice is not an error. */
  private async isOwn(userId: string, id: string): Promise<boolean> {
    const statement = `SELECT 1 FROM ${this.database.table(Session)} WHERE id = $1 AND guard = $2 AND user_id = $3`;
    return (await this.database.query(statement, [id, this.realm.guard, userId])).length > 0;
  }
}

/** Number of sessions that one statement of the export reads. */
const PAGE = 1000;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

interface ExportedRow {
  id: string;
  /** `created_at` as text, in full precision. */
  startedAt: string;
  createdAt: number;
  lastRotatedAt: number | null;
  revokedAt: number | null;
  expiresAt: number;
}

/** Reads the live and the ended sessions of a user for the export of the account. */
@Injectable()
export class SessionExport {
  constructor(
    private readonly database: Database,
    private readonly realm: Realm,
  ) {}

  async export(userId: string): Promise<ExportedSession[]> {
    const rows: ExportedRow[] = [];
    for (;;) {
      const page: ExportedRow[] = await this.page(userId, rows.at(-1));
      rows.push(...page);
      if (page.length < PAGE) break;
    }
    return rows.map(({ id, createdAt, lastRotatedAt, revokedAt, expiresAt }) => ({
      session: id,
      created_at: iso(createdAt),
      last_rotated_at: isoOrNull(lastRotatedAt),
      revoked_at: isoOrNull(revokedAt),
      expires_at: iso(expiresAt),
    }));
  }

  /** Reads in the order of the start. Two sub-selects, because each kind has its own index. */
  private page(userId: string, after?: ExportedRow): Promise<ExportedRow[]> {
    const { guard, options } = this.realm;
    const ofKind = (condition: string): string => `
      (SELECT * FROM ${this.database.table(Session)}
        WHERE guard = $1 AND user_id = $2 AND ${condition} AND (created_at, id) > ($3::timestamptz, $4::uuid)
        ORDER BY created_at, id LIMIT ${PAGE})`;
    return this.database.query<ExportedRow>(
      `SELECT id, created_at::text AS "startedAt", ${epoch('created_at')} AS "createdAt",
              ${epoch('recent[cardinality(recent)]')} AS "lastRotatedAt",
              ${epoch('revoked_at')} AS "revokedAt", ${epoch(endOf('$5'))} AS "expiresAt"
         FROM (${ofKind('revoked_at IS NULL')} UNION ALL ${ofKind('revoked_at IS NOT NULL')}) s
        ORDER BY created_at, id LIMIT ${PAGE}`,
      [guard, userId, after?.startedAt ?? '-infinity', after?.id ?? FIRST_ID, options.sessions.idleTimeout || null],
    );
  }
}
