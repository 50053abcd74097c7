import { Logger } from '@nestjs/common';
import { type JsonWebKey, type KeyObject, createPublicKey } from 'node:crypto';
import type { Algorithm } from '../../foundation/config/auth-options';
import type { KeyOptions } from './key.options';
import type { Clock } from '../../foundation/platform/clock';
import { RequestScope, withTimeout } from '../../foundation/platform/deadline';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { responseText } from '../../foundation/platform/http-text';
import { fits, isWeakRsa } from './key-material';

/** Maximum number of keys in a set. An issuer that rotates its keys lists two or three. */
const MOST_KEYS = 100;

/**
 * The keys of a JWK Set (RFC 7517 §5) that verify tokens of an algorithm, by `kid`. Other keys are ignored, as
 * RFC 7517 §5 requires: the set may also serve other purposes.
 *
 * @throws Error if the value is not a JWK Set, or has more than 100 keys
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
  // A published private key is not secret, so its signatures prove nothing.
  if (use !== 'sig' || alg !== algorithm || d !== undefined) return [];
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    return fits(key, algorithm) && !isWeakRsa(key) ? [[kid, key]] : [];
  } catch {
    return [];
  }
}

/** Minimum milliseconds between the starts of two reads, so that tokens with invented `kid`s cannot flood the issuer. */
const COOLDOWN_MS = 10_000;

const NAME = 'The key set';

/** Reads public keys from a remote key set. Reads it again for an unknown `kid`, and when the set is stale. */
export class RemoteKeys {
  private readonly logger = new Logger('Auth');
  /** Keys of the last successful read, by `kid`. */
  private listed: ReadonlyMap<string, KeyObject> = new Map();
  private freshMs = 0;
  /** Start times of the last successful read and of the last read, by the monotonic clock. */
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

  /** The public keys by `kid`. */
  get keys(): ReadonlyMap<string, KeyObject> {
    return this.listed;
  }

  /**
   * Waits for a read of the key set if the key of a `kid` is unknown. Undefined if the key is known, or if there is no
   * `kid`.
   *
   * @throws StoreUnavailable if the last read failed, because the key may be a new one
   */
  prepare(kid: unknown): Promise<void> | undefined {
    return typeof kid === 'string' ? this.upToDate(this.listed.has(kid)) : undefined;
  }

  /** Whether there are any keys. @throws StoreUnavailable if there are none and the key set cannot be read */
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
    this.startedAt = this.clock.monotonic();
    // All requests share the read, so it runs without the deadline of the request that started it.
    this.reading = RequestScope.detached(() => this.read()).finally(() => (this.reading = undefined));
  }

  private async outcome(): Promise<void> {
    if (this.reading) await withTimeout(NAME, this.timeoutMs, this.reading);
    if (this.failure) throw new StoreUnavailable(NAME, this.failure.cause);
  }

  /** Never rejects, because it may run without an awaiting request. */
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
      // Aborts an unfinished response.
      stop.abort();
    }
  }

  private hasPassed(since: number, ms: number): boolean {
    return this.clock.monotonic() - since >= ms;
  }
}

const MOST_BYTES = 262_144;

/** Freshness of a set without `max-age`, in milliseconds: 10 minutes. */
const FRESH_MS = 600_000;

/** The longest time for which a set is used: a key that the issuer has withdrawn verifies tokens until the next read. */
const MOST_FRESH_MS = 86_400_000;

/** Reads a key set. Returns the unvalidated set and its freshness in milliseconds. */
export type KeySetSource = (signal: AbortSignal) => Promise<{ set: unknown; freshMs: number }>;

export const keySetSource = (jwks: NonNullable<KeyOptions['jwks']>): KeySetSource =>
  typeof jwks === 'string' ? (signal) => fetched(jwks, signal) : async () => ({ set: await jwks(), freshMs: FRESH_MS });

async function fetched(url: string, signal: AbortSignal): ReturnType<KeySetSource> {
  const response = await fetch(url, {
    headers: {
      Accept: 'application/jwk-set+json, application/json',
      // An HTTP cache in between could return an old set without the new `kid`.
      'Cache-Control': 'no-cache',
      'User-Agent': '@svc/auth',
    },
    redirect: 'error',
    signal,
  }).catch((error: Error) => {
    // The cause of a `fetch` error contains the reason.
    throw error.cause ?? error;
  });
  if (!response.ok) throw new Error(`the key set request returned status ${response.status}`);
  const set: unknown = JSON.parse(await responseText(response, MOST_BYTES, 'the key set'));
  return { set, freshMs: maxAgeMs(response.headers.get('cache-control')) };
}

/** Freshness from `max-age` (RFC 9111 §5.2.2.1), in milliseconds. */
function maxAgeMs(cacheControl: string | null): number {
  const [, seconds] = /(?:^|[ \t,])max-age="?(\d+)/i.exec(cacheControl ?? '') ?? [];
  return seconds === undefined ? FRESH_MS : Math.min(Number(seconds) * 1000, MOST_FRESH_MS);
}
