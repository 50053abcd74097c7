import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import { Realm, deadline, event, http, identity, pg, session } from '../../../kit';
import { BackgroundRows } from '../background-rows';
import { type AuditActor, type HistoryQuery, causerOf, enderOf, isTaken, outcomeOf } from './audit.policy';
import { type AuditEntry, AuditStore, type AuditedLine, type HistoryPage, type NewLine } from './audit.store';

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

/** A refresh token had a copy, of the user or of another person. */
const [REUSED, UNKNOWN] = ['auth.refresh_token.reused', { kind: 'user' }] as const;

/** A line that waits in the background. */
interface WaitingLine {
  readonly entry: AuditEntry;
  /** As `performance.now()` returned it. */
  readonly since: number;
  /** Computed once: an attempt without an answer may have inserted it. */
  line?: NewLine;
}

/**
 * The history of the accounts of one guard. The start and the end of a session are written in its transaction, and what an
 * operator does with {@link record}. All other lines are those of the security log about an account; they are written after the
 * commit, in the background.
 */
@Injectable()
export class AuditTrail implements OnModuleInit, OnModuleDestroy {
  /** Refusals wait by themselves: anyone can cause them, and they must not displace other lines. */
  private readonly waiting: readonly [lines: BackgroundRows<WaitingLine>, refusals: BackgroundRows<WaitingLine>];

  constructor(
    private readonly store: AuditStore,
    private readonly database: pg.Database,
    private readonly log: event.SecurityLog,
    private readonly events: event.AuthEvents,
    private readonly users: identity.TimedUserProvider,
    private readonly realm: Realm,
    work: deadline.BackgroundWork,
  ) {
    const rows = (what: string) => new BackgroundRows<WaitingLine>(what, work, (waiting) => this.write(waiting));
    this.waiting = [rows('lines of histories'), rows('refusals in histories')];
  }

  onModuleInit(): void {
    const { guard } = this.realm;
    this.log.onEvery((line, { request, startsSession = false }) => {
      if (line.guard === guard && isTaken(line, startsSession)) this.take(line, request);
    });
    // The outcome of its request names no account.
    this.events.on(session.PasswordReset, (reset) => {
      if (reset.guard === guard)
        this.take({ event: 'auth.password_reset.succeeded', user_id: this.users.idOf(reset.user) });
    });
  }

  onModuleDestroy(): void {
    for (const rows of this.waiting) rows.close();
  }

  /** Writes a line in the transaction of the caller. @param at unix seconds; null for the time of the statement */
  async record(sql: pg.Sql, entry: AuditEntry, at: number | null = null): Promise<void> {
    this.forgetDeleted(await this.store.insert(sql, [this.store.line(entry, at)]));
  }

  /** Writes a line with the time of the call: PostgreSQL may insert it after later lines. */
  async recordNow(entry: AuditEntry): Promise<void> {
    await this.record(this.database.query, entry, await this.store.now());
  }

  /** Writes a line in the background, as soon as PostgreSQL can be reached. */
  recordLater(entry: AuditEntry): void {
    this.waiting[0].add({ entry, since: performance.now() });
  }

  /** A page of the history of an account, for an operator. */
  page(userId: string, query: HistoryQuery = {}): Promise<HistoryPage<AuditedLine>> {
    return this.store.page(userId, query);
  }

  /** The line of a session that starts, for the statement that stores the session. */
  ofStart({ userId, familyId, ip, userAgent }: session.NewSession): session.Beside {
    const [named, inRequest] = surroundings();
    const actor: AuditActor = named ?? { kind: inRequest ? 'user' : 'host' };
    const operation = 'auth.session.started';
    const entry: AuditEntry = { userId, operation, actor, sessionId: familyId, ip, userAgent };
    const { insertingOne: inserting } = this.store;
    return { inserting, values: this.store.valuesOf(this.store.line(entry)) };
  }

  /** Writes the lines of sessions that end, in their transaction. The client of a session is in the line of its start. */
  async recordEnds(sql: pg.Sql, ended: readonly session.EndedRow[], reason: session.SessionEnding): Promise<void> {
    const actor = enderOf(reason, ...surroundings());
    const entries = ended.flatMap(({ id: sessionId, userId }): AuditEntry[] => [
      // The event of it does not know the user.
      ...(reason === 'reuse'
        ? [{ userId, operation: REUSED, outcome: 'failed', actor: UNKNOWN, sessionId } as const]
        : []),
      { userId, operation: 'auth.session.ended', reason, actor, sessionId },
    ]);
    await this.store.insert(
      sql,
      entries.map((entry) => this.store.line(entry)),
    );
    // The start of a session that found its user deleted may have made the key again.
    if (reason === 'discarded') this.forgetDeleted(ended.map(({ userId }) => userId));
  }

  /** Deletes the keys of accounts that were deleted before their key was made. */
  private forgetDeleted(userIds: readonly string[]): void {
    for (const userId of userIds)
      void deadline.bestEffort('deleting the key of a deleted account', async () => {
        if (!(await this.users.findById(userId))) await this.store.forget(userId);
      });
  }

  /** @param request that the line is about; of an event, the request in which it was emitted */
  private take(line: event.SecurityLine, request = deadline.RequestScope.current?.request): void {
    const { event: operation, user_id: userId, reason = line.purpose, session_id: sessionId } = line;
    const outcome = outcomeOf(operation);
    const actor = causerOf(operation, ...surroundings());
    // The owner learns neither the address of an operator nor that of the host.
    const { ip = null, userAgent = null } = actor.kind === 'user' && request ? http.clientInfo(request) : {};
    const entry = { userId: userId!, operation, outcome, reason, actor, sessionId, ip, userAgent };
    const row = { entry, since: performance.now() };
    const [lines, refusals] = this.waiting;
    // Refusals that are the same are one line, while it waits. A client can vary its user agent.
    if (outcome === 'failed') refusals.add(row, JSON.stringify([userId, operation, reason, ip]));
    else lines.add(row);
  }

  private async write(waiting: readonly WaitingLine[]): Promise<void> {
    // Before the time of PostgreSQL is read: a line is never dated before what led to it.
    const [sent, now] = [performance.now(), await this.store.now()];
    const lines = waiting.map((one) => (one.line ??= this.store.line(one.entry, now - (sent - one.since) / 1000)));
    this.forgetDeleted(await this.store.insert(this.database.query, lines));
  }
}
