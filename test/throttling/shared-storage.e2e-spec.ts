import { Controller, Get, type INestApplication, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { SharedThrottlerStorage } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import request from 'supertest';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { startHost } from '../support/adapter';
import { createDatabase } from '../support/database';
import { HostModule, hostOptions } from '../support/host.module';
import { RedisServer } from '../support/redis';
import { describeWithOwnRedis } from '../support/with-redis';

@Controller('open')
class OpenController {
  @Get()
  open() {
    return {};
  }
}

describeWithOwnRedis('a host with a throttler of its own', () => {
  let redis: RedisServer;
  let database: Awaited<ReturnType<typeof createDatabase>>;
  const closing: (() => Promise<unknown>)[] = [];
  const name = randomUUID();

  async function startNode(): Promise<INestApplication> {
    const { cache, client } = await redisCache(redis.url);
    @Module({
      imports: [
        HostModule.with(database.url, hostOptions({ cache }), [OpenController]),
        ThrottlerModule.forRootAsync({
          inject: [SharedThrottlerStorage],
          useFactory: (storage: SharedThrottlerStorage) => ({
            throttlers: [{ name, ttl: 60_000, limit: 10 }],
            storage,
          }),
        }),
      ],
      providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
    })
    class Node {}
    const app = await startHost(Node);
    closing.push(
      () => app.close(),
      async () => client.disconnect(),
    );
    return app;
  }

  beforeAll(async () => {
    redis = await RedisServer.start();
    database = await createDatabase();
  });
  afterAll(async () => {
    for (const close of closing) await close().catch(() => undefined);
    await database.drop();
    await redis.stop();
  });

  it('counts in the library`s store: exactly, for all nodes together, and closed without Redis', async () => {
    const nodes = [await startNode(), await startNode()];
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => request(nodes[i % 2]!.getHttpServer()).get('/open')),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
    const refused = await request(nodes[0]!.getHttpServer()).get('/open').expect(429);
    expect(Number(refused.headers[`retry-after-${name}`])).toBeGreaterThan(50);

    await redis.stop();
    await request(nodes[1]!.getHttpServer()).get('/open').expect(503);
  });
});
