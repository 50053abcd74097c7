import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { bestEffort, withTimeout } from '../../foundation/platform/deadline';
import { StoreUnavailable } from '../../foundation/platform/errors';
import type { Mail, MailKind } from '../../foundation/ports/mail';
import { Realm } from '../../foundation/realm/realm';

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

/** Number of mails that are sent concurrently. */
const CONCURRENCY = 4;

/** Maximum number of waiting mails, so that a mail server that does not respond cannot fill the memory of a node. */
const MAX_WAITING = 1000;

/** Time limit in milliseconds of one mail, from its queries to the confirmation of the mail server. */
const TIMEOUT_MS = 60_000;

const DRAIN = { totalMs: 10_000, stepMs: 20 };

interface Job {
  kind: MailKind;
  prepare: () => Promise<Mail | null>;
  onFailure?: () => Promise<unknown>;
}

/**
 * Prepares and sends mails after the response. So a response does not show whether a mail was sent, failed or took long.
 * The queue is in memory; the application waits up to 10 seconds for it when it shuts down.
 */
@Injectable()
export class MailQueue implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly logger = new Logger('Auth');
  private readonly waiting: Job[] = [];
  private running = 0;

  constructor(
    private readonly realm: Realm,
    private readonly events: AuthEvents,
  ) {}

  /**
   * @param prepare makes the mail; null if there is no mail to send
   * @param onFailure called after a mail could not be prepared or sent, with an unknown outcome at the mail server
   */
  add(kind: MailKind, prepare: Job['prepare'], onFailure?: Job['onFailure']): void {
    if (this.waiting.length >= MAX_WAITING) return this.report(kind, new Error('too many mails wait'));
    this.waiting.push({ kind, prepare, onFailure });
    // Deferred, so that the response of this request is sent first.
    setImmediate(() => void this.work());
  }

  /** Running requests may still add mails, so the queue is drained both before and after they end. */
  beforeApplicationShutdown(): Promise<void> {
    return this.drain();
  }

  onApplicationShutdown(): Promise<void> {
    return this.drain();
  }

  private async work(): Promise<void> {
    if (this.running >= CONCURRENCY) return;
    this.running++;
    for (let job = this.waiting.shift(); job; job = this.waiting.shift()) await this.do(job);
    this.running--;
  }

  /** Runs one job with a time limit, so that it cannot block the queue. A mail that is prepared too late is not sent. */
  private async do({ kind, prepare, onFailure }: Job): Promise<void> {
    let failed = false;
    const work = async (): Promise<void> => {
      const mail = await prepare();
      if (mail && !failed) await this.realm.options.mail.mailer!.send(mail);
    };
    try {
      await withTimeout('The mail', TIMEOUT_MS, work());
    } catch (error) {
      failed = true;
      this.report(kind, error);
      if (onFailure) await bestEffort('recording that a mail failed', onFailure);
    }
  }

  private report(kind: MailKind, thrown: unknown): void {
    const error = thrown instanceof StoreUnavailable ? (thrown.cause ?? thrown) : thrown;
    const { code, responseCode, name } = (error ?? {}) as Record<string, unknown>;
    // The message may quote the address, or the link.
    this.logger.error(`a mail (${kind}) was not sent: ${[code ?? name, responseCode].filter(Boolean).join(' ')}`);
    this.events.emit(new MailFailed(kind, this.realm.guard, error));
  }

  private async drain(): Promise<void> {
    for (let waited = 0; waited < DRAIN.totalMs && this.waiting.length + this.running > 0; waited += DRAIN.stepMs) {
      await sleep(DRAIN.stepMs);
    }
  }
}
