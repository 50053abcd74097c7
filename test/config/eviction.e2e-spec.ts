import { NestFactory } from '@nestjs/core';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { createDatabase } from '../support/database';
import { HostModule } from '../support/host.module';
import { RedisServer } from '../support/redis';
import { describeWithOwnRedis } from '../support/with-redis';

const HIDDEN = ['--rename-command', 'CONFIG', ''];

describeWithOwnRedis('in production, a Redis', () => {
  const before = process.env.NODE_ENV;
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let redis: RedisServer;

  beforeAll(async () => {
    database = await createDatabase();
    process.env.NODE_ENV = 'production';
  });
  afterEach(() => redis.stop());
  afterAll(async () => {
    process.env.NODE_ENV = before;
    await database.drop();
  });

  async function startOn(...settings: string[]): Promise<void> {
    redis = await RedisServer.start(...settings);
    const { cache, client } = await redisCache(redis.url);
    try {
      const app = await NestFactory.create(HostModule.with(database.url, { cache }), {
        logger: false,
        abortOnError: false,
      });
      await app.init();
      await app.close();
    } finally {
      await client.disconnect();
    }
  }

  it.each(['allkeys-lru', 'allkeys-lfu', 'allkeys-random', 'volatile-lru', 'volatile-random', 'volatile-ttl'])(
    'that evicts by %s is refused, with the cure',
    async (policy) => {
      await expect(startOn('--maxmemory-policy', policy)).rejects.toThrow(
        new RegExp(`maxmemory-policy of Redis is ${policy}.*Set maxmemory-policy to noeviction`),
      );
    },
  );

  it('that evicts and forbids CONFIG, as managed ones do, is refused as well', async () => {
    await expect(startOn('--maxmemory-policy', 'allkeys-lru', ...HIDDEN)).rejects.toThrow(/is allkeys-lru/);
  });

  it.each([
    ['keeps everything', []],
    ['keeps everything and forbids CONFIG', HIDDEN],
    ['tells nothing', [...HIDDEN, '--rename-command', 'INFO', '']],
  ])('that %s is not refused', async (_, settings) => {
    await expect(startOn(...settings)).resolves.toBeUndefined();
  });

  it('that evicts is fine for development', async () => {
    process.env.NODE_ENV = 'test';
    await expect(startOn('--maxmemory-policy', 'allkeys-lru')).resolves.toBeUndefined();
    process.env.NODE_ENV = 'production';
  });
});
