import { Logger } from '@nestjs/common';
import { AuthConfigError } from '../kernel/auth.exception';
import type { Clock } from '../kernel/clock';
import { MemorySecurityStore } from './memory-security-store';
import { redisClientOf } from './redis-client';
import { RedisSecurityStore } from './redis-security-store';
import { SecurityStore } from './security-store';

/**
 * The security store behind what the host handed over: a store of its own, Redis below a cache, or this
 * process's memory.
 *
 * @throws AuthConfigError in production for a store that is not shared: a revocation would reach one
 * process and no other
 */
export function selectStore(source: unknown, clock: Clock, timeoutMs: number, production: boolean): SecurityStore {
  const store = storeOf(source, clock, timeoutMs);
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

function storeOf(source: unknown, clock: Clock, timeoutMs: number): SecurityStore {
  if (source instanceof SecurityStore) return source;
  const client = redisClientOf(source);
  return client ? new RedisSecurityStore(client, timeoutMs) : new MemorySecurityStore(clock);
}
