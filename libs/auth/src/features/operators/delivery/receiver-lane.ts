import type { Logger } from '@nestjs/common';
import { type Clock, deadline, errors, http } from '../../../kit';
import { type PushOutcome, askedPause, nextAttempt, pushOutcome, pauseAfter } from './security-event.policy';
import type { ClaimedEvent, SecurityEventStore } from './security-event.store';
import type { SecurityEventReceiver } from './security-events.options';

/** Number of requests that one process sends to a receiver at once. */
const AT_ONCE = 8;

/** Time limit of one request in milliseconds. */
const TIMEOUT_MS = 10_000;

/** Longest error body that is read, in bytes. */
const MOST_BYTES = 4096;

/** Seconds after which the table is asked for tokens of other processes, and for those that failed before. */
const POLL_SECONDS = 15;

interface Answer {
  readonly outcome: PushOutcome;
  readonly failure: string | null;
  /** Seconds for which the receiver asks. */
  readonly asked?: number;
}

/** Posts a token (RFC 8935 §2). @throws any error of the network, or of the function of the host */
async function post(
  { endpoint, authorization }: SecurityEventReceiver,
  token: string,
  signal: AbortSignal,
  now: Date,
): Promise<Answer> {
  const credentials = typeof authorization === 'function' ? await authorization() : authorization;
  const headers = {
    'Content-Type': 'application/secevent+jwt',
    Accept: 'application/json',
    'User-Agent': '@svc/auth',
    ...(credentials !== undefined && { Authorization: credentials }),
  };
  const response = await fetch(endpoint, { method: 'POST', body: token, headers, redirect: 'manual', signal });
  const outcome = pushOutcome(response.status);
  const asked = askedPause(response.headers.get('retry-after'), now);
  if (outcome === 'accepted') return { outcome, failure: null };
  const code = outcome === 'refused' ? await errorCode(response) : '';
  return { outcome, asked, failure: `status ${response.status} ${code}`.trim() };
}

/** The member `err` of a refusal (RFC 8935 §2.3). Other texts of a receiver are neither stored nor logged. */
async function errorCode(response: Response): Promise<string> {
  try {
    const { err } = JSON.parse(await http.responseText(response, MOST_BYTES, 'the receiver')) as { err?: unknown };
    return typeof err === 'string' && /^\w{1,64}$/.test(err) ? err : '';
  } catch {
    return '';
  }
}

/** The cause of an error without its message, which may contain the URL. */
function causeOf(error: unknown): string {
  if (error instanceof errors.StoreUnavailable && error.cause === undefined) return 'timeout';
  const { code, name, cause } = (error ?? {}) as { code?: unknown; name?: string; cause?: unknown };
  if (cause !== undefined) return causeOf(cause);
  return typeof code === 'string' ? code : (name ?? 'an error');
}

/**
 * Delivers the tokens of one receiver: several at once, and one at a time while it does not answer. So a receiver that hangs holds a
 * fixed number of requests, and no other receiver waits for it.
 */
export class ReceiverLane {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private isWanted = false;
  private timer: NodeJS.Timeout | undefined;
  /** Number of rounds in a row without an answer. */
  private failures = 0;

  constructor(
    private readonly receiver: SecurityEventReceiver,
    private readonly store: SecurityEventStore,
    private readonly sign: (claims: object) => string,
    private readonly logger: Logger,
    private readonly clock: Clock,
  ) {}

  /** Delivers what is due now. Never rejects. */
  run(): Promise<void> {
    this.isWanted = true;
    return (this.running ??= deadline.RequestScope.detached(() => this.rounds()));
  }

  /** Ends the requests, whose tokens another process can deliver at once. */
  async stop(): Promise<void> {
    this.stopping.abort();
    clearTimeout(this.timer);
    await this.running;
  }

  private async rounds(): Promise<void> {
    clearTimeout(this.timer);
    try {
      while (this.isWanted && !this.stopping.signal.aborted) {
        this.isWanted = false;
        if (await this.round()) this.isWanted = true;
      }
    } catch (error) {
      this.failures++;
      this.logger.error(`delivering security events to ${this.receiver.name} failed: ${causeOf(error)}`);
    }
    this.running = undefined;
    if (this.stopping.signal.aborted) return;
    const seconds = this.failures ? Math.max(pauseAfter(this.failures), 1) : POLL_SECONDS;
    this.timer = setTimeout(() => void this.run(), seconds * 1000).unref();
  }

  /** Returns whether more may be due, at a receiver that answers. */
  private async round(): Promise<boolean> {
    const { name } = this.receiver;
    const claimed = await this.store.claim(name, this.failures ? 1 : AT_ONCE);
    if (!claimed.length) return false;
    const outcomes = await Promise.all(claimed.map((event) => this.deliver(event)));
    this.failures = outcomes.every((outcome) => outcome === 'failed') ? this.failures + 1 : 0;
    if (!this.failures) return true;
    const lost = await this.store.giveUp(name);
    if (lost) this.logger.error(`${lost} security events for ${name} were given up: it has not answered for days`);
    return false;
  }

  private async deliver({ position, attempts, claims }: ClaimedEvent): Promise<PushOutcome> {
    const { outcome, failure, asked } = await this.attempt(claims);
    if (outcome === 'accepted') await this.store.remove(position);
    else if (this.stopping.signal.aborted) await this.store.release(position, null, 0);
    else {
      const seconds = nextAttempt(outcome, attempts, asked);
      await this.store.release(position, failure, seconds);
      const lost = `a security event for ${this.receiver.name} was given up after ${attempts} attempts: ${failure}`;
      if (seconds === null) this.logger.error(lost);
    }
    return outcome;
  }

  private async attempt(claims: object): Promise<Answer> {
    const end = new AbortController();
    const abort = (): void => end.abort();
    this.stopping.signal.addEventListener('abort', abort);
    try {
      const answer = post(this.receiver, this.sign(claims), end.signal, new Date(this.clock.now()));
      return await deadline.withTimeout('The receiver', TIMEOUT_MS, answer);
    } catch (error) {
      return { outcome: 'failed', failure: causeOf(error) };
    } finally {
      this.stopping.signal.removeEventListener('abort', abort);
      // Also ends an answer whose body was not read.
      end.abort();
    }
  }
}
