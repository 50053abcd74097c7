import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isUnavailable, withTimeout } from '../platform/deadline';
import type { SecurityStore } from './security-store';

/** Seconds after which a store removes what an interrupted proof leaves. */
const PROOF_TTL = 10;

/** Milliseconds that a cache has to remove an entry whose time to live has passed, and between two looks at it. */
const [EXPIRY_MS, LOOK_MS] = [2000, 5];

/** What is used of a cache of cache-manager. */
interface Cache {
  set(key: string, value: string, ttlMs: number): unknown;
  get(key: string): unknown;
  del(key: string): unknown;
}

const METHODS = ['get', 'set', 'del'] as const;

/**
 * Returns what a store does wrong, by using it; null for one that stores, and for one that is not available at present: the
 * application starts without it, and requests are answered 503.
 */
async function problemIn(proof: () => Promise<string | null>, timeoutMs: number): Promise<string | null> {
  try {
    return await withTimeout('The store', timeoutMs, proof());
  } catch (error) {
    return isUnavailable(error) ? null : `throws ${(error as Error | undefined)?.name ?? String(error)}`;
  }
}

/** Returns what a security store does wrong with values, and with attempts under a limit; see {@link problemIn}. */
export function storeProblem(store: SecurityStore, timeoutMs: number): Promise<string | null> {
  const key = `svc:start:${randomUUID()}`;
  const limit = { key: `${key}:limit`, group: key, max: 1, seconds: PROOF_TTL };
  return problemIn(async () => {
    const [added, { admitted }] = await Promise.all([store.add(key, '1', PROOF_TTL), store.count([limit], true)]);
    const [[value], addedAgain, again] = await Promise.all([
      store.getMany([key]),
      store.add(key, '2', PROOF_TTL),
      store.count([limit], true),
    ]);
    const [taken] = await Promise.all([store.take(key), store.settle([limit], 'undone')]);
    if (!added || value !== '1' || taken !== '1') return 'loses what it is given';
    if (addedAgain) return 'replaces a value instead of refusing the second one';
    if (!admitted || again.admitted) return 'does not count attempts';
    return (await store.take(key)) === null ? null : 'returns a value that was taken';
  }, timeoutMs);
}

/** Returns what a cache does wrong that is not on Redis; see {@link problemIn}. */
export function cacheProblem(cache: object, timeoutMs: number): Promise<string | null> {
  const used = cache as Cache;
  const missing = METHODS.find((name) => typeof used[name] !== 'function');
  if (missing) return Promise.resolve(`has no method ${missing}`);
  const key = `svc:start:${randomUUID()}`;
  const isAbsent = async (): Promise<boolean> => ((await used.get(key)) ?? null) === null;
  return problemIn(async () => {
    await used.set(key, '1', PROOF_TTL * 1000);
    if ((await used.get(key)) !== '1') return 'loses what it is given';
    await used.del(key);
    if (!(await isAbsent())) return 'keeps what is deleted';
    await used.set(key, '1', 1);
    for (let waited = 0; waited < EXPIRY_MS; waited += LOOK_MS) {
      if (await isAbsent()) return null;
      await sleep(LOOK_MS);
    }
    await used.del(key);
    return 'keeps what has expired';
  }, timeoutMs + EXPIRY_MS);
}

/**
 * Reads the `maxmemory-policy` from a reply of Redis. The reply to `CONFIG GET` is a list in RESP2 and a map in RESP3,
 * the reply to `INFO` is a text. Null when the reply does not contain it.
 */
export function policyIn(answer: unknown): string | null {
  const entries = answer instanceof Map ? Object.fromEntries(answer) : answer;
  if (typeof entries === 'string') return /^maxmemory_policy:(\S+)/m.exec(entries)?.[1] ?? null;
  const [name, value] = Array.isArray(entries) ? entries : (Object.entries(Object(entries))[0] ?? []);
  return name === 'maxmemory-policy' && typeof value === 'string' ? value : null;
}

/**
 * Describes the problem with an eviction policy and its correction; null for `noeviction`. Every key of the library has
 * a time to live, so that the policies `volatile-*` evict them too.
 */
export function evictionProblem(policy: string | null): string | null {
  if (policy === 'noeviction') return null;
  if (policy === null) {
    return 'Redis does not report its maxmemory-policy. Make sure that it is noeviction: after the eviction of a denylist entry, a revoked token is accepted.';
  }
  return (
    `The maxmemory-policy of Redis is ${policy}, which evicts entries of the denylist: a revoked token would be ` +
    'accepted. Set maxmemory-policy to noeviction (CONFIG SET maxmemory-policy noeviction, and in its configuration), ' +
    'or give the library a Redis of its own.'
  );
}
