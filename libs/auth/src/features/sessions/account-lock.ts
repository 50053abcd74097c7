import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Database, LOCK_UNTIL_COMMIT, type Sql } from '../../foundation/platform/database';
import { Realm } from '../../foundation/realm/realm';
import { AccountStandings } from '../../identity/tokens/access-tokens';
import type { Caller } from '../../identity/tokens/caller';
import { Sessions } from './sessions';

/**
 * Serializes work on one account, at all guards of its source: adding a login method from a session, ending all sessions with the removal of the login
 * methods, and changes of the email. So an ended session cannot add a login method, and the removal misses none.
 */
@Injectable()
export class AccountLock {
  constructor(
    private readonly database: Database,
    private readonly sessions: Sessions,
    private readonly standings: AccountStandings,
    private readonly realm: Realm,
  ) {}

  /**
   * Runs `add` in a transaction if the session has not ended.
   *
   * @throws Unauthenticated when the session has ended; SignInRefused: an access token can outlive a suspension
   */
  async exclusiveForSession<T>(caller: Pick<Caller, 'userId' | 'familyId'>, add: (sql: Sql) => Promise<T>): Promise<T> {
    // Before the lock, because the hook is code of the host.
    await this.standings.refuse(caller.userId);
    return this.exclusive(caller.userId, async (sql) => {
      // A separate statement, which sees what was committed while the lock was awaited. It also locks the session: its end
      // waits for this transaction, so the removal that follows the end finds what is added here.
      await this.sessions.requireAlive(caller, sql);
      return add(sql);
    });
  }

  /**
   * Runs `work` in a transaction that excludes other work under this lock on the same account.
   *
   * @param once see `Database.transaction`
   */
  exclusive<T>(userId: string, work: (sql: Sql, manager: EntityManager) => Promise<T>, once = false): Promise<T> {
    return this.database.transaction(async (sql, manager) => {
      await this.take(sql, userId);
      return work(sql, manager);
    }, once);
  }

  /** Takes the lock, and holds it until the transaction ends. */
  async take(sql: Sql, userId: string): Promise<void> {
    await sql(LOCK_UNTIL_COMMIT, [`svc:turns:${this.realm.source.key}:${userId}`]);
  }
}
