import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LoggedEvents } from '../../foundation/realm/log-events';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { BackgroundWork, RequestScope, bestEffort, withTimeout } from '../../foundation/platform/deadline';
import { AuthConfigError, StoreUnavailable } from '../../foundation/platform/errors';
import type { MailKind } from '../../foundation/ports/mail';
import { Realm } from '../../foundation/realm/realm';
import { type Draft, MailGate } from './mail-gate';

/**
 * A mail could not be prepared or sent. The client got the same response as for a mail that was sent. A good reason for
 * an alarm: users cannot reset a password while mails fail.
 *
 * @publicApi
 */
export class MailFailed {
  constructor(
    readonly kind: MailKind,
    readonly guard: string,
    /** The error. The response of a mail server may quote the address: do not log it unchanged. */
    readonly error: unknown,
  ) {}
}

declare module '../../foundation/platform/catalogue' {
  interface SecurityEvents {
    'auth.mail.failed': MailFailed;
  }
}

export const MAIL_EVENTS: LoggedEvents = {
  'auth.mail.failed': {
    event: MailFailed,
    severity: 'warning',
    details: ({ kind, guard }) => ({ purpose: kind, guard }),
    counter: ['svc.auth.mail.failures', 'guard', 'purpose'],
  },
};

/** Number of mails that are sent concurrently. */
const CONCURRENCY = 4;

/** Maximum number of waiting mails, so that a mail server that does not respond cannot fill the memory of a node. */
const MAX_WAITING = 1000;

/** Time limit in milliseconds of one mail, from its queries to the confirmation of the mail server. */
const TIMEOUT_MS = 60_000;

/**
 * Milliseconds after which a failed mail to the owner of an account is tried again. A mail that a person has requested is not:
 * the person can request another one.
 */
const RETRIES_MS = [30_000, 300_000, 1_800_000] as const;

interface Job {
  readonly kind: MailKind;
  readonly prepare: () => Promise<Draft<MailKind> | null>;
  /** The key of the client whose request has caused the mail; null if it is not known. */
  readonly client: string | null;
  /** Number of attempts that have failed. */
  readonly failures: number;
}

/**
 * Prepares and sends mails after the response, each through the {@link MailGate}. So a response does not show whether a mail
 * was sent, failed or took long. The queue is in memory: see {@link BackgroundWork}.
 */
@Injectable()
export class MailQueue implements OnApplicationShutdown {
  private readonly logger = new Logger('Auth');
  private readonly waiting: Job[] = [];
  private readonly retries = new Set<NodeJS.Timeout>();
  private running = 0;

  constructor(
    private readonly realm: Realm,
    private readonly events: AuthEvents,
    private readonly gate: MailGate,
    private readonly background: BackgroundWork,
  ) {}

  /** @param prepare finds the recipient, and decides what the mail is; null if there is no mail to send */
  add<Kind extends MailKind>(kind: Kind, prepare: () => Promise<Draft<Kind> | null>): void {
    const [client = null] = RequestScope.current?.fairShareKeys() ?? [];
    this.push({ kind, prepare: prepare as Job['prepare'], client, failures: 0 });
  }

  /** Sends a mail now, for a caller that waits for it. Returns false if it was not sent, because of a limit or its data. */
  async send<Kind extends MailKind>(kind: Kind, draft: Draft<Kind>): Promise<boolean> {
    return this.deliver(kind, draft, null, () => true);
  }

  /**
   * Makes a change only if the mail that reports it can be sent: see {@link MailGate.withReserved}.
   *
   * @throws TooManyRequests also if too many mails wait, because the mail would be lost
   */
  withReserved<T>(kind: MailKind, to: string, change: () => Promise<T>, isMade: (result: T) => boolean): Promise<T> {
    return this.gate.withReserved(kind, to, change, isMade, this.isFull);
  }

  onApplicationShutdown(): void {
    for (const retry of this.retries) clearTimeout(retry);
  }

  private get isFull(): boolean {
    return this.waiting.length >= MAX_WAITING;
  }

  private push(job: Job): void {
    if (this.isFull) return this.failed(job, new Error('too many mails wait'));
    this.waiting.push(job);
    // Deferred, so that the response of this request is sent first.
    this.background.add(RequestScope.detached(() => nextTurn().then(() => this.work())));
  }

  private async work(): Promise<void> {
    if (this.running >= CONCURRENCY) return;
    this.running++;
    for (let job = this.waiting.shift(); job; job = this.waiting.shift()) await this.do(job);
    this.running--;
  }

  /** Runs one job with a time limit, so that it cannot block the queue. A mail that is prepared too late is not sent. */
  private async do(job: Job): Promise<void> {
    const { kind, prepare, client } = job;
    let isLate = false;
    let failed: Draft<MailKind>['failed'];
    const work = async (): Promise<void> => {
      const draft = await prepare();
      failed = draft?.failed;
      if (draft) await this.deliver(kind, draft, client, () => !isLate);
    };
    try {
      await withTimeout('The mail', TIMEOUT_MS, work());
    } catch (error) {
      isLate = true;
      this.failed(job, error);
      if (failed) await bestEffort('recording that a mail failed', failed);
    }
  }

  private failed(job: Job, error: unknown): void {
    this.report(job.kind, error);
    this.retryLater(job);
  }

  /**
   * The only place that sends mails.
   *
   * @param isWanted false if the mail was prepared too late
   */
  private async deliver<Kind extends MailKind>(
    kind: Kind,
    draft: Draft<Kind>,
    client: string | null,
    isWanted: () => boolean,
  ): Promise<boolean> {
    const admitted = await this.gate.admit(kind, draft, client);
    if (!admitted) {
      await draft.refused?.();
      return false;
    }
    let isSent = false;
    try {
      const mail = await draft.write();
      if (mail && isWanted()) {
        await this.realm.options.mail.mailer!.send({ ...mail, to: draft.to });
        isSent = true;
      }
    } finally {
      // If the store does not answer, the mail stays counted until the window of its limits ends.
      await admitted.end(isSent || draft.countsAlways === true).catch(() => undefined);
    }
    // The mail was sent, so an error here is no failure. Its claim prevents a second one.
    if (isSent) await draft.sent?.().catch(() => undefined);
    return isSent;
  }

  private retryLater(job: Job): void {
    const delay = RETRIES_MS[job.failures];
    if (this.gate.isRequested(job.kind) || delay === undefined || this.retries.size >= MAX_WAITING) return;
    const retry = setTimeout(() => {
      this.retries.delete(retry);
      this.push({ ...job, failures: job.failures + 1 });
    }, delay).unref();
    this.retries.add(retry);
  }

  private report(kind: MailKind, thrown: unknown): void {
    const error = thrown instanceof StoreUnavailable ? (thrown.cause ?? thrown) : thrown;
    const { code, responseCode, name } = (error ?? {}) as Record<string, unknown>;
    // The message may quote the address, or the link; that of the library does not.
    const cause =
      error instanceof AuthConfigError ? error.message : [code ?? name, responseCode].filter(Boolean).join(' ');
    this.logger.error(`a mail (${kind}) was not sent: ${cause}`);
    this.events.emit(new MailFailed(kind, this.realm.guard, error));
  }
}
