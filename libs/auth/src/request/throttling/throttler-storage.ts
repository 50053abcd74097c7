import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { SecurityStore } from '../../foundation/security-store/security-store';

/** The result of a counted request for `@nestjs/throttler`. Times are in seconds. */
export interface ThrottlerRecord {
  totalHits: number;
  timeToExpire: number;
  isBlocked: boolean;
  timeToBlockExpire: number;
}

/**
 * Stores the counters of the host's own `@nestjs/throttler` in the security store of this library: shared by all nodes,
 * with one atomic operation per request. It has the type `ThrottlerStorage`. While the store is unavailable, requests are
 * answered 503.
 *
 * @example ThrottlerModule.forRootAsync({
 *   inject: [SharedThrottlerStorage],
 *   useFactory: (storage: SharedThrottlerStorage) => ({ throttlers: [{ ttl: 60_000, limit: 100 }], storage }),
 * })
 * @publicApi
 */
@Injectable()
export class SharedThrottlerStorage {
  constructor(private readonly store: SecurityStore) {}

  /** Implements `ThrottlerStorage`. `ttl` and `blockDuration` are in milliseconds. */
  async increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    throttlerName: string,
  ): Promise<ThrottlerRecord> {
    const rule = { key: `svc:th:${throttlerName}:${key}`, max: limit, seconds: ttl / 1000 };
    const counting = this.store.count([{ ...rule, blockSeconds: blockDuration / 1000 }]);
    // `ThrottlerGuard` passes errors on. An error that is not an HTTP exception would be answered 500.
    const { admitted, buckets } = await counting.catch((error: unknown) => {
      throw error instanceof StoreUnavailable ? error : new StoreUnavailable('The security store', error);
    });
    const { counted, secondsLeft } = buckets[0]!;
    const wait = Math.ceil(secondsLeft);
    return {
      totalHits: admitted ? counted : counted + 1,
      timeToExpire: wait,
      isBlocked: !admitted,
      timeToBlockExpire: admitted ? 0 : wait,
    };
  }
}

// Checked here, because `implements` would put the import into the declarations, which hosts without the package compile.
SharedThrottlerStorage satisfies new (store: SecurityStore) => ThrottlerStorage;
