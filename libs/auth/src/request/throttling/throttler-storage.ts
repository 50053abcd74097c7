import { Injectable } from '@nestjs/common';
import { SecurityStore } from '../../foundation/security-store/security-store';

/** What `@nestjs/throttler` is told of a counted request; times in seconds. */
export interface ThrottlerRecord {
  totalHits: number;
  timeToExpire: number;
  isBlocked: boolean;
  timeToBlockExpire: number;
}

/**
 * A storage for the host's own `@nestjs/throttler`, on the store that this library counts in: shared by all
 * nodes, one atomic operation per request, and closed (503) while it cannot be reached.
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

  /** The `ThrottlerStorage` port: `ttl` and `blockDuration` in milliseconds. */
  async increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    throttlerName: string,
  ): Promise<ThrottlerRecord> {
    const one = { key: `svc:th:${throttlerName}:${key}`, max: limit, seconds: ttl / 1000 };
    const { admitted, buckets } = await this.store.count([{ ...one, blockSeconds: blockDuration / 1000 }]);
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
