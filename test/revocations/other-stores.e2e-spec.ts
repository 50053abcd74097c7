import { type Limit, type Outcome, SecurityStore } from '@svc/auth';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { TestApp } from '../support/app';
import { ADA } from '../support/confirming';
import { LATEST, onStatement } from '../support/denylist-state';
import { eventually } from '../support/eventually';
import { type RedisClient, RedisServer } from '../support/redis';
import { describeWithOwnRedis } from '../support/with-redis';

// By itself: another node that tells it again would make good what is wrong here.
describeWithOwnRedis('one node alone, whose Redis loses the denylist', () => {
  let redis: RedisServer;
  let t: TestApp;
  let client: RedisClient;

  beforeAll(async () => {
    redis = await RedisServer.start();
    t = await TestApp.start({ redisUrl: redis.url });
    ({ client } = await redisCache(redis.url));
    await t.person(ADA);
  });
  afterAll(async () => {
    await client.disconnect();
    await t.stop();
    await redis.stop();
  });

  it('once more when everything was told, and nobody has said so yet, accepts nothing that was revoked', async () => {
    const [live, revoked] = [(await t.session()).access_token, (await t.session()).access_token];
    await t.call('post', '/auth/logout', revoked).expect(204);
    let ends = 0;
    onStatement(/expires_at::text[^]* FROM \S*svc_revocations/, async ({ rows }) => {
      if (rows.length === 0 && ends++ === 0) await client.flushAll();
    });
    await client.flushAll();
    await eventually(async () => {
      await t.get('/private', revoked).expect(401);
      await t.get('/private', live).expect(200);
      return ends > 1;
    });
    await t.get('/private', revoked).expect(401);
  });
});

describe('a store in memory', () => {
  it('forgets no revocation when its process is started again', async () => {
    const first = await TestApp.start({ redisUrl: '' });
    await first.person(ADA);
    const [live, revoked] = [await first.session(ADA), await first.session(ADA)];
    await first.call('post', '/auth/logout', revoked.access_token).expect(204);
    const second = await TestApp.start({ redisUrl: '', databaseUrl: first.databaseUrl });
    await second.get('/private', revoked.access_token).expect(401);
    await second.get('/private', live.access_token).expect(200);
    await second.stop();
    await first.stop();
  });
});

/** A store of a host's own, that knows nothing of connections and may forget everything. */
class OwnStore extends SecurityStore {
  readonly shared = true;
  private life = 0;

  constructor(private readonly below: SecurityStore) {
    super();
  }

  forget(): void {
    this.life++;
  }

  getMany = (keys: readonly string[]) => this.below.getMany(keys.map(this.named));
  setMany = (keys: readonly string[], value: string, ttl: number) =>
    this.below.setMany(keys.map(this.named), value, ttl);
  add = (key: string, value: string, ttl: number) => this.below.add(this.named(key), value, ttl);
  take = (key: string) => this.below.take(this.named(key));
  advance = (key: string, to: number, ttl: number) => this.below.advance(this.named(key), to, ttl);
  count = (limits: readonly Limit[], pending?: boolean) => this.below.count(limits.map(this.limit), pending);
  settle = (limits: readonly Limit[], outcome: Outcome) => this.below.settle(limits.map(this.limit), outcome);

  private named = (key: string): string => `${this.life}:${key}`;
  private limit = (limit: Limit): Limit => ({ ...limit, key: this.named(limit.key) });
}

describe('a store of the host`s own', () => {
  it('brings no revoked token back either', async () => {
    const inMemory = await TestApp.start({ redisUrl: '' });
    const store = new OwnStore(inMemory.app.get(SecurityStore));
    const t = await TestApp.start({ options: { cache: store } });
    await t.person(ADA);
    const [live, revoked] = [await t.session(ADA), await t.session(ADA)];
    await t.call('post', '/auth/logout', revoked.access_token).expect(204);
    for (let round = 0; round < 5; round++) {
      store.forget();
      await t.get('/private', revoked.access_token).expect(401);
      await t.get('/private', live.access_token).expect(200);
      await eventually(async () => (await store.getMany([LATEST]))[0] !== null);
      await t.get('/private', revoked.access_token).expect(401);
      await t.get('/private', live.access_token).expect(200);
    }
    await t.stop();
    await inMemory.stop();
  });
});
