import { type Limit, type Outcome, SecurityStore } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { TestApp, type Tokens, claimsOf } from '../support/app';
import { ADA } from '../support/confirming';
import { forge } from '../support/forge';
import { type RedisClient, RedisServer } from '../support/redis';
import { TcpProxy } from '../support/tcp-proxy';
import { LATEST, isRebuilt, onStatement } from '../support/denylist-state';
import { eventually } from '../support/eventually';
import { describeWithOwnRedis } from '../support/with-redis';

describeWithOwnRedis('a token that was revoked before Redis lost its data', () => {
  let redis: RedisServer;
  let t: TestApp;
  let other: TestApp;
  let client: RedisClient;
  let live: Tokens;

  beforeAll(async () => {
    redis = await RedisServer.start();
    t = await TestApp.start({ redisUrl: redis.url });
    other = await TestApp.start({ redisUrl: redis.url, databaseUrl: t.databaseUrl });
    ({ client } = await redisCache(redis.url));
    client.on('error', () => undefined);
    await t.person(ADA);
    await t.person('bob@example.com');
  });
  beforeEach(async () => void (live = await t.session('bob@example.com')));
  afterAll(async () => {
    await client.disconnect();
    await other.stop();
    await t.stop();
    await redis.stop();
  });

  const statusOf = async (token: string, node: TestApp): Promise<number> => (await node.get('/private', token)).status;
  const rebuilt = () => eventually(() => isRebuilt(client));

  /** Waits until a node decides by Redis alone: the minute to the next rebuild begins before that. */
  async function untilTrusted(node: TestApp): Promise<void> {
    const logged = jest.spyOn(node.database.logger, 'logQuery');
    await eventually(async () => {
      logged.mockClear();
      await node.get('/private', live.access_token).expect(200);
      return !logged.mock.calls.some(([text]) => text.includes('svc_revocations'));
    });
    logged.mockRestore();
  }

  /** At both nodes, before and after the denylist is told again, and as often as it is lost. */
  async function expectRefused(tokens: readonly string[]): Promise<void> {
    for (let round = 0; round < 3; round++) {
      await client.flushAll();
      for (const node of [t, other]) {
        for (const token of tokens) expect(await statusOf(token, node)).toBe(401);
        expect(await statusOf(live.access_token, node)).toBe(200);
      }
      await rebuilt();
      for (const token of tokens) {
        expect(await client.exists(`svc:dl:fid:${String(claimsOf(token).fid).toLowerCase()}`)).toBe(1);
        for (const node of [t, other]) expect(await statusOf(token, node)).toBe(401);
      }
    }
  }

  const ways: [string, (session: Tokens) => Promise<unknown>][] = [
    ['a logout', ({ access_token: token }) => t.call('post', '/auth/logout', token).expect(204)],
    ['the end of all sessions', ({ access_token: token }) => t.call('delete', '/auth/sessions', token).expect(204)],
    [
      'the end of all other sessions',
      async () => {
        const { access_token: caller } = await t.session(ADA);
        await t.call('delete', '/auth/sessions/others', caller).expect(204);
      },
    ],
    [
      'the end of one session from the list',
      async ({ access_token: token }) => {
        const { access_token: caller } = await t.session(ADA);
        await t.call('delete', `/auth/sessions/${String(claimsOf(token).fid)}`, caller).expect(204);
      },
    ],
    [
      'the reuse of a refresh token',
      async ({ refresh_token: stolen }) => {
        await t.refresh(stolen).expect(200);
        await t.database.query(
          `UPDATE svc_refresh_tokens SET rotated_at = rotated_at - interval '31 seconds' WHERE rotated_at IS NOT NULL`,
        );
        await t.refresh(stolen).expect(401);
      },
    ],
    ['server code', ({ access_token: token }) => t.auth.revoke(String(claimsOf(token).fid).toUpperCase())],
  ];
  it.each(ways)('by %s is refused', async (_, end) => {
    const session = await t.session(ADA);
    await end(session);
    await expectRefused([session.access_token]);
  });

  it('is refused though its session is gone from PostgreSQL as well', async () => {
    const erased = await t.session(ADA);
    await t.call('post', '/auth/logout', erased.access_token).expect(204);
    await t.database.query('DELETE FROM svc_sessions WHERE id = $1', [claimsOf(erased.access_token).fid]);
    await expectRefused([erased.access_token]);
  });

  it('is refused with a session that a co-issuer named, whatever its name', async () => {
    const tokens = [randomUUID(), 'session 7', 'a\0b', '\ud800', 'ключ', 'x'.repeat(3000)].map((fid) =>
      forge({ claims: { fid } }),
    );
    for (const token of tokens) await t.call('post', '/auth/logout', token).expect(204);
    for (let round = 0; round < 2; round++) {
      await client.flushAll();
      for (const token of tokens) expect(await statusOf(token, other)).toBe(401);
      await rebuilt();
      for (const token of tokens) expect(await statusOf(token, t)).toBe(401);
    }
    expect(await statusOf(forge({ claims: { fid: 'session 8' } }), t)).toBe(200);
  });

  it('is refused when Redis was restarted empty, before any other request', async () => {
    const session = await t.session(ADA);
    await t.call('post', '/auth/logout', session.access_token).expect(204);
    await redis.stop();
    await redis.start();
    const seen: number[] = [];
    await eventually(async () => {
      seen.push(await statusOf(session.access_token, t), await statusOf(session.access_token, other));
      return seen.slice(-2).every((status) => status === 401);
    });
    expect(seen).not.toContain(200);
    await eventually(async () => client.isReady);
    await eventually(async () => (await statusOf(live.access_token, t)) === 200);
    await rebuilt();
    await expectRefused([session.access_token]);
  });

  it('is refused at a node that starts on an empty Redis', async () => {
    const session = await t.session(ADA);
    await t.call('post', '/auth/logout', session.access_token).expect(204);
    await client.flushAll();
    const third = await TestApp.start({ redisUrl: redis.url, databaseUrl: t.databaseUrl });
    expect(await client.exists(LATEST)).toBe(1);
    expect(await statusOf(session.access_token, third)).toBe(401);
    expect(await statusOf(live.access_token, third)).toBe(200);
    await third.stop();
  });

  it('is refused within a minute when its entry alone was lost, which nothing shows', async () => {
    const session = await t.session(ADA);
    await t.call('post', '/auth/logout', session.access_token).expect(204);
    await untilTrusted(t);
    await client.del(`svc:dl:fid:${claimsOf(session.access_token).fid}`);
    t.clock.advance(61);
    await eventually(async () => (await statusOf(session.access_token, t)) === 401);
    expect(await client.exists(`svc:dl:fid:${claimsOf(session.access_token).fid}`)).toBe(1);
  });

  it('leaves no row behind once it has expired', async () => {
    const session = await t.session(ADA);
    await t.call('post', '/auth/logout', session.access_token).expect(204);
    t.clock.advance(1200);
    await eventually(async () => (await t.database.query('SELECT 1 FROM svc_revocations')).length === 0);
    // Redis keeps its own time.
    await t.get('/private', (await t.session(ADA)).access_token).expect(200);
  });
});

describeWithOwnRedis('a failover to a replica that lags behind', () => {
  it('does not bring a token back: what was lost is asked of PostgreSQL and told again', async () => {
    // From memory to memory: a file left behind would be read at the next start.
    const diskless = [
      '--repl-diskless-sync',
      'yes',
      '--repl-diskless-sync-delay',
      '0',
      '--repl-diskless-load',
      'swapdb',
    ];
    const [primary, replica] = [await RedisServer.start(...diskless), await RedisServer.start(...diskless)];
    const address = await TcpProxy.to(primary.port);
    const t = await TestApp.start({ redisUrl: address.through(primary.url) });
    const other = await TestApp.start({ redisUrl: address.through(primary.url), databaseUrl: t.databaseUrl });
    await t.person(ADA);
    const [live, revoked] = [await t.session(ADA), await t.session(ADA)];
    for (const node of [t, other]) await node.get('/private', revoked.access_token).expect(200);

    const { client } = await redisCache(replica.url);
    await client.sendCommand(['REPLICAOF', '127.0.0.1', String(primary.port)]);
    await eventually(() => isRebuilt(client));
    // The replica is promoted with all there was, the epoch among it, and without what follows.
    await client.sendCommand(['REPLICAOF', 'NO', 'ONE']);
    await t.call('post', '/auth/logout', revoked.access_token).expect(204);
    address.target = replica.port;
    address.cut();

    const seen: number[] = [];
    await eventually(async () => {
      for (const node of [other, t]) seen.push((await node.get('/private', revoked.access_token)).status);
      return seen.slice(-2).every((status) => status === 401);
    });
    expect(seen).not.toContain(200);
    for (const node of [t, other])
      await eventually(async () => (await node.get('/private', live.access_token)).status === 200);
    await eventually(async () => (await client.exists(`svc:dl:fid:${claimsOf(revoked.access_token).fid}`)) === 1);
    for (const node of [t, other]) await node.get('/private', revoked.access_token).expect(401);

    await client.disconnect();
    await other.stop();
    await t.stop();
    await address.close();
    await primary.stop();
    await replica.stop();
  });
});

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
