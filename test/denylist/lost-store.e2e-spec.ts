import { type Limit, type AttemptOutcome, SecurityStore } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { TestApp, type Tokens, claimsOf } from '../support/hosts/app';
import { ADA } from '../support/flows/step-up';
import { LEASE, READS_BATCH, deniedKey, emptyRedisWithoutRebuild, onStatement } from '../support/stores/denylist-state';
import { eventually } from '../support/runtime/eventually';
import { forge } from '../support/clients/forge';
import { type RedisClient, RedisServer } from '../support/stores/redis';
import { VerifyingService } from '../support/hosts/verifying-service';
import { describeWithOwnRedis } from '../support/stores/with-redis';

const BOB = 'bob@example.com';

describeWithOwnRedis('a token whose session ended before Redis lost its data', () => {
  let redis: RedisServer;
  let t: TestApp;
  let other: TestApp;
  let service: VerifyingService;
  let client: RedisClient;
  let live: Tokens;

  beforeAll(async () => {
    redis = await RedisServer.start();
    const options = { tokenIds: 'any' } as const;
    t = await TestApp.start({ redisUrl: redis.url, options });
    other = await TestApp.start({ redisUrl: redis.url, databaseUrl: t.databaseUrl, options });
    service = await VerifyingService.start(redis.url, options);
    ({ client } = await redisCache(redis.url));
    await t.person(ADA);
    await t.person(BOB);
  });
  beforeEach(async () => void (live = await t.session(BOB)));
  afterAll(async () => {
    await client.disconnect();
    await service.stop();
    await other.stop();
    await t.stop();
    await redis.stop();
  });

  const statusOf = async (token: string, node: TestApp): Promise<number> => (await node.get('/private', token)).status;

  /** Checks both nodes and the service during and after a rebuild, for each of several losses. */
  async function expectRefused(tokens: readonly string[], losses = 1): Promise<void> {
    for (let loss = 0; loss < losses; loss++) {
      await client.flushAll();
      await eventually(async () => {
        for (const node of [t, other]) {
          for (const token of tokens) expect(await statusOf(token, node)).toBe(401);
          expect(await statusOf(live.access_token, node)).toBe(200);
        }
        // Sent before the live token: while the denylist is incomplete, the service refuses every token with 503.
        const answers = await Promise.all(tokens.map((token) => service.status(token)));
        for (const answer of answers) expect([401, 503]).toContain(answer);
        return (await service.status(live.access_token)) === 200;
      });
      for (const token of tokens) expect(await service.status(token)).toBe(401);
    }
  }

  const ways: [string, (session: Tokens) => Promise<unknown>][] = [
    ['a logout', ({ access_token: token }) => t.call('post', '/auth/logout', token).expect(204)],
    [
      'a request to end all sessions',
      ({ access_token: token }) => t.call('delete', '/auth/sessions', token).expect(204),
    ],
    [
      'a request to end all other sessions',
      async () => {
        const { access_token: caller } = await t.session(ADA);
        await t.call('delete', '/auth/sessions/others', caller).expect(204);
      },
    ],
    [
      'a request to end one session from the list',
      async ({ access_token: token }) => {
        const { access_token: caller } = await t.session(ADA);
        await t.call('delete', `/auth/sessions/${String(claimsOf(token).fid)}`, caller).expect(204);
      },
    ],
    [
      'a reuse of a refresh token',
      async ({ refresh_token: stolen }) => {
        await t.refresh(stolen).expect(200);
        await t.database.query(
          `UPDATE svc_sessions SET recent = array(SELECT one - interval '31 seconds' FROM unnest(recent) AS one)`,
        );
        await t.refresh(stolen).expect(401);
      },
    ],
    ['a call of server code', ({ access_token: token }) => t.auth.revoke(String(claimsOf(token).fid).toUpperCase())],
  ];
  it.each(ways)('is refused if %s ended the session', async (_, end) => {
    const session = await t.session(ADA);
    await end(session);
    await expectRefused([session.access_token]);
  });

  it('is refused if a co-issuer started the session under a UUID, because PostgreSQL stores its end', async () => {
    const token = forge({ claims: { fid: randomUUID().toUpperCase() } });
    await t.get('/private', token).expect(200);
    await t.call('post', '/auth/logout', token).expect(204);
    await expectRefused([token], 3);
  });

  it('is refused if a co-issuer used any other text as session id, while Redis has the denial', async () => {
    const tokens = ['session 7', 'a\0b', '\ud800', 'ключ', 'x'.repeat(3000)].map((fid) => forge({ claims: { fid } }));
    for (const token of tokens) await t.call('post', '/auth/logout', token).expect(204);
    await service.opened(live.access_token);
    for (const token of tokens) {
      for (const node of [t, other]) expect(await statusOf(token, node)).toBe(401);
      expect(await service.status(token)).toBe(401);
    }
    const another = forge({ claims: { fid: 'session 8' } });
    for (const node of [t, other]) expect(await statusOf(another, node)).toBe(200);
    expect(await service.status(another)).toBe(200);
  });

  it('is refused when one denial is deleted from Redis', async () => {
    const { access_token: token } = await t.session(ADA);
    await t.call('post', '/auth/logout', token).expect(204);
    await client.del(deniedKey(claimsOf(token).fid));
    for (const node of [t, other]) expect(await statusOf(token, node)).toBe(401);
  });

  it('is refused after the deletion of its row, while Redis has the denial', async () => {
    const { access_token: token } = await t.session(ADA);
    await t.call('post', '/auth/logout', token).expect(204);
    await t.database.query('DELETE FROM svc_sessions WHERE id = $1', [claimsOf(token).fid]);
    for (const node of [t, other]) expect(await statusOf(token, node)).toBe(401);
  });

  it('is refused at a node that starts on an empty Redis', async () => {
    const { access_token: token } = await t.session(ADA);
    await t.call('post', '/auth/logout', token).expect(204);
    await client.flushAll();
    const third = await TestApp.start({ redisUrl: redis.url, databaseUrl: t.databaseUrl });
    expect(await statusOf(token, third)).toBe(401);
    expect(await statusOf(live.access_token, third)).toBe(200);
    await third.stop();
  });

  it('is refused before the rebuild, and a verifying service answers 503 until the rebuild', async () => {
    const { access_token: token } = await t.session(ADA);
    await t.call('post', '/auth/logout', token).expect(204);
    await emptyRedisWithoutRebuild(client);
    for (let times = 0; times < 5; times++) {
      for (const node of [t, other]) {
        expect(await statusOf(token, node)).toBe(401);
        expect(await statusOf(live.access_token, node)).toBe(200);
      }
      expect(await service.status(token)).toBe(503);
      expect(await service.status(live.access_token)).toBe(503);
    }
    await client.pExpire(LEASE, 1);
    await service.opened(live.access_token);
    expect(await service.status(token)).toBe(401);
  });

  it('is refused if Redis is emptied again during the rebuild', async () => {
    const { access_token: token } = await t.session(ADA);
    await t.call('post', '/auth/logout', token).expect(204);
    let losses = 0;
    onStatement(READS_BATCH, async () => void (losses++ < 4 && (await client.flushAll())));
    await expectRefused([token]);
    expect(losses).toBeGreaterThan(4);
    jest.restoreAllMocks();
  });

  it('is refused if its session ends during the rebuild, before or after the commit', async () => {
    const leaving: string[] = [];
    onStatement(READS_BATCH, async () => {
      if (leaving.length >= 6) return;
      const { accessToken } = await t.auth.startSession(1);
      leaving.push(accessToken);
      await other.call('post', '/auth/logout', accessToken).expect(204);
    });
    for (let round = 0; round < 3; round++) {
      await client.flushAll();
      await service.opened(live.access_token);
    }
    jest.restoreAllMocks();
    expect(leaving.length).toBeGreaterThan(1);
    for (const token of leaving) {
      expect(await statusOf(token, t)).toBe(401);
      expect(await service.status(token)).toBe(401);
    }
  });
});

describe('an in-memory store', () => {
  it('refuses ended sessions after a restart of its process', async () => {
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

/** A store of a host that has no connection events and can lose all data. */
class OwnStore extends SecurityStore {
  readonly shared = true;
  private life = 0;

  constructor(private readonly below: SecurityStore) {
    super();
  }

  clear(): void {
    this.life++;
  }

  async *scan(prefix: string): AsyncGenerator<string[]> {
    const named = this.named(prefix);
    for await (const keys of this.below.scan(named)) yield keys.map((key) => prefix + key.slice(named.length));
  }

  getMany = (keys: readonly string[]) => this.below.getMany(keys.map(this.named));
  setMany = (keys: readonly string[], value: string, ttl: number) =>
    this.below.setMany(keys.map(this.named), value, ttl);
  add = (key: string, value: string, ttl: number) => this.below.add(this.named(key), value, ttl);
  take = (key: string) => this.below.take(this.named(key));
  advance = (key: string, to: number, ttl: number) => this.below.advance(this.named(key), to, ttl);
  count = (limits: readonly Limit[], pending?: boolean) => this.below.count(limits.map(this.limit), pending);
  settle = (limits: readonly Limit[], outcome: AttemptOutcome) => this.below.settle(limits.map(this.limit), outcome);

  private named = (key: string): string => `${this.life}:${key}`;
  private limit = (limit: Limit): Limit => ({ ...limit, key: this.named(limit.key) });
}

describe('a custom store of the host', () => {
  it('refuses ended sessions after a loss of data', async () => {
    const inMemory = await TestApp.start({ redisUrl: '' });
    const store = new OwnStore(inMemory.app.get(SecurityStore));
    const t = await TestApp.start({ options: { cache: store } });
    const service = await VerifyingService.on(store, async () => undefined);
    await t.person(ADA);
    const [live, revoked] = [await t.session(ADA), await t.session(ADA)];
    await t.call('post', '/auth/logout', revoked.access_token).expect(204);
    for (let round = 0; round < 3; round++) {
      store.clear();
      await t.get('/private', revoked.access_token).expect(401);
      await t.get('/private', live.access_token).expect(200);
      expect([401, 503]).toContain(await service.status(revoked.access_token));
      await service.opened(live.access_token);
      expect(await service.status(revoked.access_token)).toBe(401);
    }
    await service.stop();
    await t.stop();
    await inMemory.stop();
  });
});
