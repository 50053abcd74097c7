import { Logger } from '@nestjs/common';
import type { KeyObject } from 'node:crypto';
import type { Algorithm } from '../config/auth-options';
import { StoreUnavailable } from '../kernel/auth.exception';
import type { Clock } from '../kernel/clock';
import { RequestScope } from '../kernel/request-scope';
import { answered } from '../kernel/unavailable';
import { verifyingKeys } from './jwk-set';
import type { KeySetSource } from './key-set-source';

/** Milliseconds between the starts of two reads, so that invented `kid`s do not flood the issuer. */
const COOLDOWN_MS = 10_000;

const NAME = 'The key set';

/** Public keys that are read from elsewhere, and read again when a token names another one or when they are stale. */
export class RemoteKeys {
  private readonly logger = new Logger('Auth');
  /** What the last successful read listed. */
  private listed: ReadonlyMap<string, KeyObject> = new Map();
  private freshMs = 0;
  /** When the last successful read started, and when the last one of any outcome did. */
  private readAt = -Infinity;
  private startedAt = -Infinity;
  private reading?: Promise<void>;
  private failure?: { readonly cause: unknown };

  constructor(
    private readonly source: KeySetSource,
    private readonly algorithm: Algorithm,
    private readonly timeoutMs: number,
    private readonly clock: Clock,
  ) {}

  /** By `kid`. */
  get keys(): ReadonlyMap<string, KeyObject> {
    return this.listed;
  }

  /**
   * Waits until it is known whether there is a key of a `kid`. Undefined where it is there, or where none is named.
   *
   * @throws StoreUnavailable where the last read failed, so that the key may be one that is not known yet
   */
  prepare(kid: unknown): Promise<void> | undefined {
    return typeof kid === 'string' ? this.upToDate(this.listed.has(kid)) : undefined;
  }

  /** Whether there are any keys. @throws StoreUnavailable where there are none, and they cannot be read */
  async hasAny(): Promise<boolean> {
    await this.upToDate(this.listed.size > 0);
    return this.listed.size > 0;
  }

  private upToDate(isKnown: boolean): Promise<void> | undefined {
    if (!isKnown || this.hasPassed(this.readAt, this.freshMs)) this.refresh();
    return isKnown ? undefined : this.outcome();
  }

  private refresh(): void {
    if (this.reading || !this.hasPassed(this.startedAt, COOLDOWN_MS)) return;
    this.startedAt = this.clock.now();
    // All requests share the read, so the one that started it must not shorten it by what it has waited already.
    this.reading = RequestScope.apart(() => this.read()).finally(() => (this.reading = undefined));
  }

  private async outcome(): Promise<void> {
    if (this.reading) await answered(NAME, this.timeoutMs, this.reading);
    if (this.failure) throw new StoreUnavailable(NAME, this.failure.cause);
  }

  /** Never rejects: it may run without anybody waiting for it. */
  private async read(): Promise<void> {
    const stop = new AbortController();
    try {
      const { set, freshMs } = await answered(NAME, this.timeoutMs, this.source(stop.signal));
      this.listed = verifyingKeys(set, this.algorithm);
      this.freshMs = freshMs;
      this.readAt = this.startedAt;
      this.failure = undefined;
    } catch (cause) {
      this.failure = { cause };
      this.logger.error('the key set of keys.jwks could not be read', (cause as Error | null)?.stack);
    } finally {
      // What was not read to its end is given up.
      stop.abort();
    }
  }

  /** Whether so much time has passed; also where a clock was set back, or it would count as fresh for that long. */
  private hasPassed(since: number, ms: number): boolean {
    const elapsed = this.clock.now() - since;
    return elapsed < 0 || elapsed >= ms;
  }
}
