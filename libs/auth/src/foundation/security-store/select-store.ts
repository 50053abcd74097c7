import { Logger } from '@nestjs/common';
import { AuthConfigError, unreadVariable } from '../platform/errors';
import type { Clock } from '../platform/clock';
import { RedisSecurityStore } from './redis-security-store';
import { MemorySecurityStore } from './memory-security-store';
import { OwnRedis, type RedisConnection } from './own-redis';
import { clientProblem, connectionProblem, redisClientOf } from './first-connection';
import { StoreFactory, type StoreSettings } from './redis-client';
import { SecurityStore } from './security-store';
import { cacheProblem, evictionProblem, storeProblem } from './store-proof';

/** The options of the host for its store. */
interface StoreChoice extends StoreSettings {
  /** A cache, a Redis client, a SecurityStore or the factory of one, or undefined. */
  readonly store: unknown;
  /** The Redis to which the library connects itself. */
  readonly redis: Partial<RedisConnection>;
}

/**
 * Selects the security store from the options of the host: the Redis of `redis.url`, a SecurityStore of the host, that of a
 * factory, the Redis client below a cache, or the memory of this process.
 *
 * @throws AuthConfigError for a Redis client that cannot be used; in production also for a store that is not shared,
 * because a revocation would reach only one process
 */
export async function selectStore(
  choice: StoreChoice,
  clock: Clock,
  production: boolean,
  own = new OwnRedis(),
): Promise<SecurityStore> {
  const store = await createdStore(choice, clock, own);
  const problem = unshared(store, choice, production);
  if (problem && production) throw new AuthConfigError(problem);
  if (problem) new Logger('Auth').warn(problem);
  return store;
}

/** What is wrong with a store that is not shared, for the environment; undefined for a shared one. */
export function unshared(
  store: SecurityStore,
  { store: source }: Pick<StoreChoice, 'store'>,
  production: boolean,
): string | undefined {
  if (store.shared) return undefined;
  if (!source) return withoutStore(production);
  return withCure(
    'cache is not a shared store: its data is in the memory of this process, or is not stored',
    production,
  );
}

/** What is wrong with options without a store, for the environment. */
export const withoutStore = (production: boolean): string =>
  withCure(`${missingStore()}. A revocation would apply only to this process`, production);

const withCure = (problem: string, production: boolean): string =>
  `${problem}. ${production ? CURE : 'This is allowed in development only: in production the module does not start.'}`;

/** Why there is no shared store. */
export const missingStore = (env: Readonly<Record<string, string | undefined>> = process.env): string =>
  env.SVC_REDIS_URL?.trim() ? unreadVariable('SVC_REDIS_URL') : 'Neither redis.url (SVC_REDIS_URL) nor cache is set';

const CURE =
  'Set redis.url to the URL of your Redis, such as redis://localhost:6379, or cache to a cache-manager cache on Redis, a ' +
  'node-redis client or a SecurityStore.';

/**
 * Connects to the Redis of `redis.url`. Refuses a store that does not store, and in production a Redis that evicts keys; if
 * Redis does not report its eviction policy, a warning is logged.
 *
 * @throws AuthConfigError
 */
export async function openStore(
  store: SecurityStore,
  { storeTimeoutMs }: Pick<StoreChoice, 'storeTimeoutMs'>,
  own: OwnRedis,
  production: boolean,
): Promise<void> {
  await own.open();
  try {
    await refuseFaulty(store, storeTimeoutMs);
    if (production) await refuseEviction(store);
  } catch (error) {
    // An application that does not start is not shut down either.
    await own.onApplicationShutdown();
    throw error;
  }
}

/** @throws AuthConfigError for a store that does not store */
export async function refuseFaulty(store: SecurityStore, timeoutMs: number): Promise<void> {
  const problem = await storeProblem(store, timeoutMs);
  if (problem) throw new AuthConfigError(`cache is no store: it ${problem}. ${CURE}`);
}

/** The library detects the loss of all data, but not the loss of single entries. */
async function refuseEviction(store: SecurityStore): Promise<void> {
  const policy = await store.evictionPolicy();
  const problem = evictionProblem(policy);
  if (problem && policy !== null) throw new AuthConfigError(problem);
  if (problem) new Logger('Auth').warn(problem);
}

/** The store of the options. @throws AuthConfigError for a client or a cache that cannot be used */
export async function createdStore(
  { store, redis, storeTimeoutMs, keyPrefix }: StoreChoice,
  clock: Clock,
  own: OwnRedis,
): Promise<SecurityStore> {
  const { url } = redis;
  if (url !== undefined) {
    const client = own.create({ ...redis, url });
    const mayConnect = () => own.connected !== undefined;
    return new RedisSecurityStore(client, storeTimeoutMs, keyPrefix, { mayConnect, opened: () => own.open() });
  }
  if (store instanceof SecurityStore) return store;
  if (store instanceof StoreFactory) return store.create({ storeTimeoutMs, keyPrefix });
  const client = redisClientOf(store);
  const problem = clientProblem(store, client) ?? (await connectionProblem(store, client));
  if (problem) throw new AuthConfigError(`cache ${problem}`);
  if (!client) {
    const fault = store ? await cacheProblem(store, storeTimeoutMs) : null;
    if (fault) throw new AuthConfigError(`cache is no store: it ${fault}. ${CURE}`);
    return new MemorySecurityStore(clock);
  }
  return new RedisSecurityStore(client, storeTimeoutMs, keyPrefix);
}
