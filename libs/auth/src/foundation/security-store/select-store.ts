import { Logger } from '@nestjs/common';
import { AuthConfigError } from '../platform/errors';
import type { Clock } from '../platform/clock';
import { evictionProblem, RedisSecurityStore } from './redis-security-store';
import { MemorySecurityStore } from './memory-security-store';
import { redisClientOf } from './redis-client';
import { SecurityStore } from './security-store';

/** What the host says of its store. */
interface StoreChoice {
  /** A cache, a client, a store, or nothing. */
  store: unknown;
  storeTimeoutMs: number;
  keyPrefix: string;
}

/**
 * The security store behind what the host handed over: a store of its own, Redis below a cache, or this
 * process's memory.
 *
 * @throws AuthConfigError in production for a store that is not shared: a revocation would reach one
 * process and no other; and for a Redis that evicts. One that does not tell its policy is warned of
 */
export async function selectStore(choice: StoreChoice, clock: Clock, production: boolean): Promise<SecurityStore> {
  const { store: source } = choice;
  const store = storeOf(choice, clock);
  if (production && store instanceof RedisSecurityStore) await refuseEviction(store);
  if (store.shared) return store;
  const problem = source
    ? 'cache is no shared store: it keeps its data in this process, or nowhere'
    : 'cache is not set, so revocations would stay in this process';
  if (production) {
    throw new AuthConfigError(
      `${problem}. Give it a cache-manager cache on Redis, a node-redis client or a SecurityStore.`,
    );
  }
  new Logger('Auth').warn(`${problem}. Fine for development; production refuses it.`);
  return store;
}

/** Losing everything shows; losing single entries does not. */
async function refuseEviction(redis: RedisSecurityStore): Promise<void> {
  const policy = await redis.evictionPolicy();
  const problem = evictionProblem(policy);
  if (problem && policy !== null) throw new AuthConfigError(problem);
  if (problem) new Logger('Auth').warn(problem);
}

function storeOf({ store, storeTimeoutMs, keyPrefix }: StoreChoice, clock: Clock): SecurityStore {
  if (store instanceof SecurityStore) return store;
  const client = redisClientOf(store);
  return client ? new RedisSecurityStore(client, storeTimeoutMs, keyPrefix) : new MemorySecurityStore(clock);
}
