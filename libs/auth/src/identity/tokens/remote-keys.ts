import { Logger } from '@nestjs/common';
import { type JsonWebKey, type KeyObject, createPublicKey } from 'node:crypto';
import type { Algorithm, KeyOptions } from '../../foundation/config/auth-options';
import type { Clock } from '../../foundation/platform/clock';
import { RequestScope, withTimeout } from '../../foundation/platform/deadline';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { responseText } from '../../foundation/platform/response-text';
import { fits, isWeakRsa } from './key-material';

/** Most keys of a set. An issuer that rotates its keys lists two or three. */
const MOST_KEYS = 100;

/**
 * The keys of a JWK Set (RFC 7517 §5) that verify tokens of an algorithm, by `kid`. Keys for anything else are left
 * out, as RFC 7517 §5 says: other parties may use the same set.
 *
 * @throws Error for what is no JWK Set, and for one of more than 100 keys
 */
export function verifyingKeys(set: unknown, algorithm: Algorithm): Map<string, KeyObject> {
  const { keys } = (set ?? {}) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('the key set is no JWK Set');
  if (keys.length > MOST_KEYS) throw new Error(`the key set has more than ${MOST_KEYS} keys`);
  return new Map(keys.flatMap((jwk) => entryOf(jwk, algorithm)));
}

function entryOf(jwk: unknown, algorithm: Algorithm): [kid: string, key: KeyObject][] {
  const { kid, use = 'sig', alg = algorithm, d } = (jwk ?? {}) as JsonWebKey;
  if (typeof kid !== 'string' || !kid) return [];
  // A private key that is published is known to everybody, so its signatures prove nothing.
  if (use !== 'sig' || alg !== algorithm || d !== undefined) return [];
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    return fits(key, algorithm) && !isWeakRsa(key) ? [[kid, key]] : [];
  } catch {
    return [];
  }
}

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
    this.reading = RequestScope.detached(() => this.read()).finally(() => (this.reading = undefined));
  }

  private async outcome(): Promise<void> {
    if (this.reading) await withTimeout(NAME, this.timeoutMs, this.reading);
    if (this.failure) throw new StoreUnavailable(NAME, this.failure.cause);
  }

  /** Never rejects: it may run without anybody waiting for it. */
  private async read(): Promise<void> {
    const stop = new AbortController();
    try {
      const { set, freshMs } = await withTimeout(NAME, this.timeoutMs, this.source(stop.signal));
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

const MOST_BYTES = 262_144;

/** How long a set is fresh that comes without `max-age`: 10 minutes. */
const FRESH_MS = 600_000;

/** Reads a key set. It says what it got, and for how many milliseconds that is fresh; it judges nothing. */
export type KeySetSource = (signal: AbortSignal) => Promise<{ set: unknown; freshMs: number }>;

export const keySetSource = (jwks: NonNullable<KeyOptions['jwks']>): KeySetSource =>
  typeof jwks === 'string' ? (signal) => fetched(jwks, signal) : async () => ({ set: await jwks(), freshMs: FRESH_MS });

async function fetched(url: string, signal: AbortSignal): ReturnType<KeySetSource> {
  const response = await fetch(url, {
    headers: {
      Accept: 'application/jwk-set+json, application/json',
      // A cache on the way would answer an unknown `kid` with the set in which it is missing.
      'Cache-Control': 'no-cache',
      'User-Agent': '@svc/auth',
    },
    redirect: 'error',
    signal,
  }).catch((error: Error) => {
    // The error of `fetch` says that it failed, and its cause says why.
    throw error.cause ?? error;
  });
  if (!response.ok) throw new Error(`the key set was answered with ${response.status}`);
  const set: unknown = JSON.parse(await responseText(response, MOST_BYTES, 'the key set'));
  return { set, freshMs: maxAgeMs(response.headers.get('cache-control')) };
}

/** RFC 9111 §5.2.2.1 */
function maxAgeMs(cacheControl: string | null): number {
  const [, seconds] = /(?:^|[\s,])max-age="?(\d+)/i.exec(cacheControl ?? '') ?? [];
  return seconds === undefined ? FRESH_MS : Number(seconds) * 1000;
}
