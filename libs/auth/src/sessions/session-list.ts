import { Injectable } from '@nestjs/common';
import { Clock } from '../kernel/clock';
import { Database } from '../kernel/database';
import { isUuid } from '../kernel/uuid';
import { Realm } from '../realm/realm';
import { NoSuchSession } from './no-such-session.exception';
import { Session } from './session.entity';
import { Sessions } from './sessions';

/** A live session as its owner sees it. Times are ISO 8601 in UTC. */
export interface ListedSession {
  id: string;
  created_at: string;
  last_used_at: string;
  ip: string | null;
  user_agent: string | null;
  label: string | null;
  /** Whether it is the one that asks. */
  current: boolean;
}

type Row = Pick<Session, 'id' | 'createdAt' | 'lastUsedAt' | 'ip' | 'userAgent' | 'label'>;

/** The sessions of one user, to look at and to end. */
@Injectable()
export class SessionList {
  constructor(
    private readonly database: Database,
    private readonly sessions: Sessions,
    private readonly realm: Realm,
    private readonly clock: Clock,
  ) {}

  /**
   * The user's live sessions on this guard, the one used last first.
   *
   * @param current the session that asks; null for a token without one
   */
  async of(userId: string, current: string | null): Promise<ListedSession[]> {
    const rows = await this.database.query<Row>(
      `SELECT id, created_at AS "createdAt", last_used_at AS "lastUsedAt", ip, user_agent AS "userAgent", label
         FROM ${this.database.table(Session)}
        WHERE guard = $1 AND user_id = $2 AND revoked_at IS NULL AND expires_at > clock_timestamp() + $3::interval
        ORDER BY last_used_at DESC, id`,
      [this.realm.guard, userId, this.clock.offset],
    );
    return rows.map(({ id, createdAt, lastUsedAt, ip, userAgent, label }) => ({
      id,
      created_at: createdAt.toISOString(),
      last_used_at: lastUsedAt.toISOString(),
      ip,
      user_agent: userAgent,
      label,
      current: id === current?.toLowerCase(),
    }));
  }

  /** Ends a session of the user's own. @throws NoSuchSession for every other id */
  async end(userId: string, id: string): Promise<void> {
    if (!isUuid(id) || !(await this.isOwn(userId, id))) throw new NoSuchSession();
    await this.sessions.revoke(id);
  }

  /** A session that has ended stays its owner's: ending it twice is no error. */
  private async isOwn(userId: string, id: string): Promise<boolean> {
    const statement = `SELECT 1 FROM ${this.database.table(Session)} WHERE id = $1 AND guard = $2 AND user_id = $3`;
    return (await this.database.query(statement, [id, this.realm.guard, userId])).length > 0;
  }
}
