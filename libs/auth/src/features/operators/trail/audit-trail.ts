import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import { Realm, deadline, event, identity, pg, session } from '../../../kit';
import { AuditKeys } from './audit-keys';
import { type AuditActor, type HistoryQuery, causerOf, enderOf, isTaken, outcomeOf } from './audit.policy';
import { type AuditEntry, AuditStore, type AuditedLine, type HistoryPage } from './audit.store';
import { BackgroundLines } from './background-lines';

const acting = new AsyncLocalStorage<AuditActor>();
let running = 0;

/**
 * Runs work in the name of an actor: the lines of histories that it causes, also those of sessions that it ends, have this actor.
 *
 * @example await actingAs({ kind: 'operator', guard: 'admin', id }, () => auth.revokeAll(userId))
 * @publicApi
 */
export function actingAs<T>(actor: AuditActor, work: () => Promise<T>): Promise<T> {
  running++;
  return acting
    .run(actor, async () => work())
    .finally(() => {
      // Before Node 24 an enabled storage slows down every promise of the process.
      if (--running === 0) acting.disable();
    });
}

/** The current actor, and whether a request to the library is running. */
const surroundings = (): [AuditActor | undefined, boolean] => [
  running ? acting.getStore() : undefined,
  deadline.RequestScope.current !== undefined,
];

/**
 * The history of the accounts of one guard. The start and the end of a session are written in its transaction, and what an
 * operator does with {@link record}. All other lines are those of the security log about an account; they are written after the
 * commit, in the background.
 */
@Injectable()
export class AuditTrail implements OnModuleInit {
  constructor(
    private readonly store: AuditStore,
    private readonly keys: AuditKeys,
    private readonly background: BackgroundLines,
    private readonly database: pg.Database,
    private readonly log: event.SecurityLog,
    private readonly events: event.AuthEvents,
    private readonly users: identity.UserProvider,
    private readonly realm: Realm,
  ) {}

  onModuleInit(): void {
    const { guard } = this.realm;
    this.log.onEvery((line, startsSession) => {
      if (line.guard === guard && isTaken(line, startsSession)) this.take(line);
    });
    // The outcome of its request names no account.
    this.events.on(session.PasswordReset, (reset) => {
      if (reset.guard === guard)
        this.take({ event: 'auth.password_reset.succeeded', user_id: this.users.idOf(reset.user) });
    });
  }

  /** Writes a line in the transaction of the caller. */
  async record(sql: pg.Sql, entry: AuditEntry): Promise<void> {
    await this.store.insert(sql, [this.store.line(entry, await this.keys.findOrCreate(sql, entry.userId))]);
  }

  /** A page of the history of an account, for an operator. */
  page(userId: string, query: HistoryQuery = {}): Promise<HistoryPage<AuditedLine>> {
    return this.store.page(userId, query);
  }

  /** The line of a session that starts, for the statement that stores the session. */
  async ofStart({ userId, familyId, ip, userAgent }: session.NewSession): Promise<session.Beside> {
    const [named, inRequest] = surroundings();
    const actor: AuditActor = named ?? { kind: inRequest ? 'user' : 'host' };
    const key = (ip ?? userAgent) === null ? null : await this.keys.findOrCreate(this.database.query, userId);
    const operation = 'auth.session.started';
    const entry: AuditEntry = { userId, operation, actor, sessionId: familyId, ip, userAgent };
    return { insert: this.store.insertSql, value: JSON.stringify([this.store.line(entry, key)]) };
  }

  /** Writes the lines of sessions that end, in their transaction. The client of a session is in the line of its start. */
  async recordEnds(sql: pg.Sql, ended: readonly session.EndedRow[], reason: session.SessionEnding): Promise<void> {
    const actor = enderOf(reason, ...surroundings());
    const operation = 'auth.session.ended';
    await this.store.insert(
      sql,
      ended.map(({ id, userId }) => this.store.line({ userId, operation, reason, actor, sessionId: id }, null)),
    );
  }

  private take({ event: operation, user_id: userId, ...line }: event.SecurityLine): void {
    this.background.add({
      userId: userId!,
      operation,
      outcome: outcomeOf(operation),
      reason: line.reason ?? line.purpose,
      actor: causerOf(operation, ...surroundings()),
      sessionId: line.session_id,
      ip: line.ip,
    });
  }
}
