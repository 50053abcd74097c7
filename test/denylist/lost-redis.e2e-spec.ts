import { redisCache } from '../../apps/sample/src/redis-cache';
import { TestApp, type TestAppOptions } from '../support/app';
import { ADA } from '../support/step-up';
import { settled } from '../support/denylist-state';
import { type RedisClient, RedisServer } from '../support/redis';
import { RedisSentinels } from '../support/redis-sentinels';
import { RACES_MS, rounds } from '../support/rounds';
import { VerifyingService } from '../support/verifying-service';
import { TokenPolling } from '../support/token-polling';
import { describeWithOwnRedis } from '../support/with-redis';

/** The numbers of ended and of live sessions. */
const [ENDED, LIVE] = [rounds(30), 5];
const BOB = 'bob@example.com';

/** Two issuing nodes and a verifying service on one Redis. */
class Deployment {
  private constructor(
    readonly t: TestApp,
    readonly other: TestApp,
    readonly service: VerifyingService,
  ) {}

  static async start(
    stores: () => Promise<TestAppOptions>,
    verify: () => Promise<VerifyingService>,
  ): Promise<Deployment> {
    const issuing = async (more: TestAppOptions = {}): Promise<TestApp> => {
      const { options, ...rest } = await stores();
      return TestApp.start({ ...rest, ...more, options: { ...options, sessions: { maxPerUser: 0 } } });
    };
    const t = await issuing();
    const started = new Deployment(t, await issuing({ databaseUrl: t.databaseUrl }), await verify());
    await t.person(ADA);
    await t.person(BOB);
    return started;
  }

  sessions(userId: number, count: number): Promise<string[]> {
    return Promise.all(Array.from({ length: count }, async () => (await this.t.auth.startSession(userId)).accessToken));
  }

  /** Ends every session of a user through one of them. */
  async end([token]: string[]): Promise<void> {
    await this.t.call('delete', '/auth/sessions', token!).expect(204);
  }

  /** Sends all tokens to every node during the loss and until the denylist is complete again. */
  async expectNoneAccepted(
    tokens: { live: string[]; ended: string[] },
    lose: (watch: TokenPolling) => Promise<unknown>,
  ): Promise<void> {
    const checks = [
      (token: string) => this.t.get('/private', token).then(({ status }) => status),
      (token: string) => this.other.get('/private', token).then(({ status }) => status),
      (token: string) => this.service.status(token),
    ];
    const watch = TokenPolling.start({ checks, ...tokens });
    await watch.rounds(1);
    await lose(watch);
    await this.service.opened(tokens.live[0]!);
    await watch.rounds(1);
    for (const check of await watch.stop()) {
      expect([...check.ended].filter((status) => ![401, 503].includes(status))).toEqual([]);
      expect([...check.live].filter((status) => ![200, 503].includes(status))).toEqual([]);
    }
    for (const check of checks) {
      expect(new Set(await Promise.all(tokens.ended.map(check)))).toEqual(new Set([401]));
      expect(new Set(await Promise.all(tokens.live.map(check)))).toEqual(new Set([200]));
    }
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await this.other.stop();
    await this.t.stop();
  }
}

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
        async () => ({ redisUrl: redis.url }),
        () => VerifyingService.start(redis.url),
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
