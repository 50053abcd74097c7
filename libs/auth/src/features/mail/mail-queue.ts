import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { withTimeout } from '../../foundation/platform/deadline';
import { StoreUnavailable } from '../../foundation/platform/errors';
import type { Mail, MailKind } from '../../foundation/ports/mail';
import { Realm } from '../../foundation/realm/realm';

/**
 * A mail could not be prepared or sent. Its reader was answered as if it had been. Worth an alarm: nobody can
 * reset a password while it lasts.
 *
 * @publicApi
 */
export class MailFailed {
  constructor(
    readonly kind: MailKind,
    readonly guard: string,
    /** What was thrown. A mail server's answer may quote the address: do not log it as it is. */
    readonly error: unknown,
  ) {}
}

const AT_ONCE = 4;

/** Mails that may wait. A mail server that hangs must not fill the memory of a node. */
const MOST_WAITING = 1000;

/** Milliseconds for all of a mail, from its look-ups to the mail server's yes. */
const PATIENCE_MS = 60_000;

const DRAIN = { totalMs: 10_000, stepMs: 20 };

interface Job {
  kind: MailKind;
  prepare: () => Promise<Mail | null>;
}

/**
 * Prepares and sends mails behind the answers that promise them: how long it takes, whether it fails and whether
 * there was anything to send shows in no answer. Kept in memory, and emptied before the application ends.
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

  /** @param prepare makes the mail; null where there is none to send after all */
  add(kind: MailKind, prepare: Job['prepare']): void {
    if (this.waiting.length >= MOST_WAITING) return this.report(kind, new Error('too many mails wait'));
    this.waiting.push({ kind, prepare });
    // Not before the answer of this request is on its way.
    setImmediate(() => void this.work());
  }

  /** Requests that still run may add to it: emptied before and after they have ended. */
  beforeApplicationShutdown(): Promise<void> {
    return this.drain();
  }

  onApplicationShutdown(): Promise<void> {
    return this.drain();
  }

  private async work(): Promise<void> {
    if (this.running >= AT_ONCE) return;
    this.running++;
    for (let job = this.waiting.shift(); job; job = this.waiting.shift()) await this.do(job);
    this.running--;
  }

  /** One that never ends would keep the others' place for ever. What comes of it later is sent to nobody. */
  private async do({ kind, prepare }: Job): Promise<void> {
    let failed = false;
    const work = async (): Promise<void> => {
      const mail = await prepare();
      if (mail && !failed) await this.realm.options.mail.mailer!.send(mail);
    };
    try {
      await withTimeout('The mail', PATIENCE_MS, work());
    } catch (error) {
      failed = true;
      this.report(kind, error);
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
