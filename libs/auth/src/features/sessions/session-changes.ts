import { Injectable } from '@nestjs/common';
import type { Sql } from '../../foundation/platform/database';
import type { GuardServices } from '../../foundation/realm/feature-data';
import { RealmScope } from '../../foundation/realm/realm';
import type { EndedRow, NewSession } from './session.entity';
import type { SessionEndReason } from './sessions.events';

/** Why a session ended; `discarded`: its tokens were sent to no client. */
export type SessionEnding = SessionEndReason | 'discarded';

/** A statement that runs as a part of the one that stores a session: without its row there is no session, and the reverse. */
export interface Beside {
  /**
   * Makes an `INSERT`, which can read the time of the session: `moment.now`.
   *
   * @param parameter the parameter with the value, such as `$18`
   */
  readonly insert: (parameter: string) => string;
  readonly value: string;
}

declare module '../../foundation/realm/feature' {
  interface HookPoints {
    /** What a feature stores together with a session, in one statement. */
    readonly sessionStart?: (services: GuardServices, session: NewSession) => Promise<Beside>;
    /** Runs in each transaction that ends sessions, or deletes their rows while they are live. An error keeps the sessions. */
    readonly sessionEnd?: (
      services: GuardServices,
      sql: Sql,
      ended: readonly EndedRow[],
      reason: SessionEnding,
    ) => Promise<void>;
  }
}

/** Lets features store what they know about the sessions that start and end, in the same transaction. */
@Injectable()
export class SessionChanges {
  constructor(private readonly scope: RealmScope) {}

  besides(session: NewSession): Promise<Beside[]> {
    return Promise.all(this.scope.hooks('sessionStart').map((store) => store(this.scope, session)));
  }

  async ended(sql: Sql, rows: readonly EndedRow[], reason: SessionEnding): Promise<void> {
    if (rows.length) for (const store of this.scope.hooks('sessionEnd')) await store(this.scope, sql, rows, reason);
  }
}
