import type { KeyOptions } from '../config/auth-options';
import { textOf } from '../kernel/text-of';

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
  const set: unknown = JSON.parse(await textOf(response, MOST_BYTES, 'the key set'));
  return { set, freshMs: maxAgeMs(response.headers.get('cache-control')) };
}

/** RFC 9111 §5.2.2.1 */
function maxAgeMs(cacheControl: string | null): number {
  const [, seconds] = /(?:^|[\s,])max-age="?(\d+)/i.exec(cacheControl ?? '') ?? [];
  return seconds === undefined ? FRESH_MS : Number(seconds) * 1000;
}
