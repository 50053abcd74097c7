import { Injectable } from '@nestjs/common';
import { Unauthenticated } from '../../foundation/platform/errors';
import { Database, type Sql } from '../../foundation/platform/database';
import { Realm } from '../../foundation/realm/realm';
import { Sessions } from './sessions';

/**
 * Lets two kinds of work on one account take turns: what a session adds to it for later logins, and what ends all
 * sessions and takes away what they have added. So nothing is added by a session that has ended, and nothing that one
 * added before is missed.
 */
@Injectable()
export class AccountLock {
  constructor(
    private readonly database: Database,
    private readonly sessions: Sessions,
    private readonly realm: Realm,
  ) {}

  /** Runs `add` in a transaction, while the session lives. @throws Unauthenticated where it was ended */
  exclusiveForSession<T>(
    { userId, familyId }: { userId: string; familyId: string | null },
    add: (sql: Sql) => Promise<T>,
  ): Promise<T> {
    return this.exclusive(userId, async (sql) => {
      // A statement of its own: it sees what was committed while this one waited for its turn.
      if (!(await this.sessions.isAlive(familyId, sql)))
        throw new Unauthenticated(true).withReason('revoked_token', userId);
      return add(sql);
    });
  }

  /** Runs `work` in a transaction, as the only one for this account. */
  exclusive<T>(userId: string, work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.database.transaction(async (sql) => {
      await sql('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`svc:turns:${this.realm.guard}:${userId}`]);
      return work(sql);
    });
  }
}
