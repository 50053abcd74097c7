import { redisCache } from '../../apps/sample/src/redis-cache';
import { settled } from '../support/stores/denylist-state';
import { Deployment } from '../support/packages/deployment';
import { type RedisClient, RedisServer } from '../support/stores/redis';
import { RedisSentinels } from '../support/stores/redis-sentinels';
import { RACES_MS, rounds } from '../support/runtime/rounds';
import { VerifyingService } from '../support/hosts/verifying-service';
import type { TokenPolling } from '../support/clients/token-polling';
import { describeWithOwnRedis } from '../support/stores/with-redis';

/** The numbers of ended and of live sessions. */
const [ENDED, LIVE] = [rounds(10), 5];

describeWithOwnRedis(`no node accepts any of ${ENDED} ended sessions`, () => {
  describe('while a single Redis', () => {
    let redis: RedisServer;
    let client: RedisClient;
    let deployment: Deployment;

    beforeAll(async () => {
      redis = await RedisServer.start();
      ({ client } = await redisCache(redis.url));
      client.on('error', () => undefined);
      deployment = await Deployment.start(
        // Requests wait for a Redis that hangs.
        async () => ({ redisUrl: redis.url, options: { storeTimeoutMs: 5000 } }),
        () => VerifyingService.start(redis.url, { storeTimeoutMs: 5000 }),
      );
    });
    afterAll(async () => {
      await deployment.stop();
      await client.disconnect();
      await redis.stop();
    });

    it.each<[what: string, lose: (watch: TokenPolling) => Promise<unknown>]>([
      ['is flushed', () => client.flushAll()],
      ['restarts without data', async () => (await redis.stop(), await redis.start())],
      [
        'hangs and continues with all its data',
        async (watch) => {
          redis.freeze();
          await watch.rounds(1);
          redis.thaw();
        },
      ],
      [
        'hangs and is flushed when it continues',
        async (watch) => {
          redis.freeze();
          const flushed = client.flushAll();
          await watch.rounds(1);
          redis.thaw();
          await flushed;
        },
      ],
    ])(
      '%s',
      async (_, lose) => {
        const [ended, live] = [await deployment.sessions(1, ENDED), await deployment.sessions(2, LIVE)];
        await deployment.end(ended);
        await settled(client);
        await deployment.expectNoneAccepted({ ended, live }, lose);
      },
      RACES_MS,
    );
  });

  describe('while a Redis master', () => {
    let sentinels: RedisSentinels;
    let deployment: Deployment;

    beforeEach(async () => {
      // Suppresses what node-redis prints about an unreachable master.
      jest.spyOn(console, 'log').mockReturnValue();
      sentinels = await RedisSentinels.start();
      const clients: { destroy(): unknown }[] = [];
      const connect = async () => {
        const sentinel = await sentinels.connect();
        clients.push(sentinel);
        return sentinel;
      };
      deployment = await Deployment.start(
        async () => ({ redisUrl: '', options: { cache: await connect() } }),
        async () => VerifyingService.on(await connect(), async () => clients.forEach((one) => one.destroy())),
      );
    });
    afterEach(async () => {
      await deployment.stop();
      await sentinels.stop();
    });

    it.each([
      ['is killed', true],
      ['becomes a replica', false],
    ])(
      '%s and a replica without any of the denials is promoted',
      async (_, kill) => {
        const [ended, live] = [await deployment.sessions(1, ENDED), await deployment.sessions(2, LIVE)];
        await deployment.service.opened(live[0]!);
        await sentinels.awaitReplication();
        await sentinels.cutReplication();
        await deployment.end(ended);
        await deployment.expectNoneAccepted({ ended, live }, () => sentinels.failover(kill));
      },
      RACES_MS,
    );
  });
});
