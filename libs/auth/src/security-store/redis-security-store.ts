import { Logger } from '@nestjs/common';
import { StoreUnavailable } from '../kernel/auth.exception';
import { answered } from '../kernel/unavailable';
import type { RedisClient } from './redis-client';
import { SecurityStore } from './security-store';

/** Keeps the state in Redis, through the node-redis client of the host's cache. */
export class RedisSecurityStore extends SecurityStore {
  readonly shared = true;
  private readonly logger = new Logger(RedisSecurityStore.name);

  /** @param timeoutMs longest wait for an answer; node-redis itself waits for ever on a hung server */
  constructor(
    private readonly client: RedisClient,
    private readonly timeoutMs: number,
  ) {
    super();
    // Without a listener node-redis ends the process when a connection drops.
    client.on('error', (error) => this.logger.warn(`Redis: ${error.message}`));
  }

  getMany(keys: readonly string[]): Promise<(string | null)[]> {
    return this.run(() => this.client.mGet([...keys]));
  }

  async setMany(keys: readonly string[], value: string, ttlSeconds: number): Promise<void> {
    const options = { PX: Math.ceil(ttlSeconds * 1000) };
    // Issued in one tick, the writes leave as one pipeline: one round trip, and each one's error is seen.
    await this.run(() => Promise.all(keys.map((key) => this.client.set(key, value, options))));
  }

  private async run<T>(command: () => Promise<T>): Promise<T> {
    // An offline client would queue the command and run it when nobody waits for it any more.
    if (this.client.isReady === false) throw new StoreUnavailable('Redis');
    try {
      return await answered('Redis', this.timeoutMs, command());
    } catch (error) {
      throw error instanceof StoreUnavailable ? error : new StoreUnavailable('Redis', error);
    }
  }
}
