import { type DynamicModule, Module, type OnApplicationShutdown } from '@nestjs/common';
import type { Cache } from 'cache-manager';
import { redisCache } from './redis-cache';

/** The cache on Redis, if a Redis is configured. Without it, the library keeps its state in memory. */
export class SharedCache implements OnApplicationShutdown {
  private constructor(
    readonly cache: Cache | undefined,
    private readonly close: () => Promise<unknown>,
  ) {}

  static async open(redisUrl: string | undefined): Promise<SharedCache> {
    if (!redisUrl) return new SharedCache(undefined, async () => undefined);
    const { cache, client } = await redisCache(redisUrl);
    return new SharedCache(cache, () => client.disconnect());
  }

  /** An open connection keeps a console command from ending. */
  async onApplicationShutdown(): Promise<void> {
    await this.close();
  }
}

@Module({})
export class CacheModule {
  static forRedis(redisUrl: string | undefined): DynamicModule {
    const provider = { provide: SharedCache, useFactory: () => SharedCache.open(redisUrl) };
    return { module: CacheModule, providers: [provider], exports: [SharedCache] };
  }
}
