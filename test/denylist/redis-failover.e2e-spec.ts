import { Logger } from '@nestjs/common';
import { AuthHealth, type AuthModuleOptions } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { TestApp, claimsOf } from '../support/hosts/app';
import { deniedKey } from '../support/stores/denylist-state';
import { eventually } from '../support/runtime/eventually';
import { RedisServer } from '../support/stores/redis';
import { TcpProxy } from '../support/faults/tcp-proxy';
import { VerifyingService } from '../support/hosts/verifying-service';
import { describeWithOwnRedis } from '../support/stores/with-redis';

const ADA = 'ada@example.com';

/** Longer than any pause of the machine. */
const STORE_TIMEOUT_MS = 10_000;

/** The refusals of PostgreSQL and Redis in the log, as one text. */
const lines: string[] = [];

beforeEach(() => {
  lines.length = 0;
  for (const level of ['warn', 'error'] as const) {
    jest.spyOn(Logger.prototype, level).mockImplementation((...texts) => void lines.push(texts.map(String).join(' ')));
  }
});

describeWithOwnRedis.each<[string, (url: string) => Partial<AuthModuleOptions> | undefined]>([
  ['the client of redis.url', (url) => ({ cache: undefined, redis: { url } })],
  ['the client of the host', () => undefined],
])('on a Redis whose master becomes a replica and keeps all connections, with %s,', (_, optionsFor) => {
  let former: RedisServer;
  let promoted: RedisServer;
  let address: TcpProxy;
  let t: TestApp;
  let service: VerifyingService;

  beforeAll(async () => {
    former = await RedisServer.start();
    promoted = await RedisServer.start('--replicaof', '127.0.0.1', String(former.port));
    address = await TcpProxy.to(former.port);
    const url = address.through(former.url);
    const own = optionsFor(url);
    const options = { ...own, storeTimeoutMs: STORE_TIMEOUT_MS };
    t = await TestApp.start(own ? { options } : { options, redisUrl: url });
    service = await (own
      ? VerifyingService.on(undefined, async () => undefined, options)
      : VerifyingService.start(url, options));
    await t.person(ADA);
  });
  afterAll(async () => {
    await service.stop();
    await t.stop();
    await address.close();
    await promoted.stop();
    await former.stop();
  });

  it('no request accepts a token that the new master denies, and all of them continue on it', async () => {
    const [live, ended] = [await t.session(ADA), await t.session(ADA)];
    await service.opened(live.access_token);
    expect(await service.status(ended.access_token)).toBe(200);
    const keys = await former.command('DBSIZE');
    await eventually(async () => (await promoted.command('DBSIZE')) === keys);

    await promoted.command('REPLICAOF', 'NO', 'ONE');
    // It gets no data of the new master, and answers every read.
    await former.command('REPLICAOF', '127.0.0.1', '1');
    address.target = promoted.port;
    const fid = String(claimsOf(ended.access_token).fid);
    await promoted.command('SET', deniedKey(fid), 'true', 'PX', '900000');

    // The service has only Redis, and asks the replica.
    expect(await service.status(ended.access_token)).not.toBe(200);
    const { status } = await t.login(ADA);
    expect([200, 503]).toContain(status);
    const seen = new Set<number>();
    await eventually(async () => {
      seen.add(await service.status(ended.access_token));
      return seen.has(401);
    });
    expect([...seen].filter((one) => ![401, 503].includes(one))).toEqual([]);
    await service.opened(live.access_token);
    await eventually(async () => (await t.login(ADA)).status === 200);
    await t.get('/private', live.access_token).expect(200);
    await t.refresh(live.refresh_token).expect(200);
    await t.call('post', '/auth/logout', live.access_token).expect(204);
    expect(await service.status(live.access_token)).toBe(401);
    // No client is connected to the former master any more, besides the one that asks.
    await eventually(
      async () => (await former.command('CLIENT', 'LIST', 'TYPE', 'normal')).trim().split('\n').length === 1,
    );
    expect(lines.filter((line) => line.startsWith('Redis: READONLY'))).not.toEqual([]);
    expect(lines.join('\n')).not.toMatch(new RegExp(`${fid}|svc:`));
  });

  it('after a process was suspended, the first guarded request is answered, although the connection is lost', async () => {
    const { access_token } = await t.session(ADA);
    await t.get('/private', access_token).expect(200);
    await service.opened(access_token);
    const now = Date.now.bind(Date);
    for (const end of [() => address.cut(), () => address.lose()]) {
      const later = Date.now() + 60_000 - now();
      jest.spyOn(Date, 'now').mockImplementation(() => now() + later);
      end();
      const statuses = await Promise.all([
        t.get('/private', access_token).then((response) => response.status),
        service.status(access_token),
      ]);
      expect(statuses).toEqual([200, 200]);
    }
  });
});

describeWithOwnRedis('a password of Redis that is rotated', () => {
  it('is read from the function redis.url for the next connection, and the health names the refusal until then', async () => {
    const [first, next] = [randomUUID(), randomUUID()];
    const server = await RedisServer.start('--requirepass', first);
    const url = (password: string) => server.url.replace('//', `//:${password}@`);
    let password = first;
    const t = await TestApp.start({ options: { cache: undefined, redis: { url: async () => url(password) } } });
    const health = t.app.get(AuthHealth);
    const storeHealth = async () => {
      t.clock.advance(1);
      return (await health.securityStore()).auth_store;
    };
    await t.person(ADA);
    const { access_token } = await t.session(ADA);
    const { client: operator } = await redisCache(url(first));
    await operator.sendCommand(['CONFIG', 'SET', 'requirepass', next]);
    await operator.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
    await operator.disconnect();
    await eventually(async () => (await storeHealth()).code === 'WRONGPASS');
    await t.get('/private', access_token).expect(503);
    password = next;
    await eventually(async () => (await t.get('/private', access_token)).status === 200);
    await t.login(ADA).expect(200);
    expect(await storeHealth()).toEqual({ status: 'up' });
    expect(lines.join('\n')).toMatch(/Redis answered WRONGPASS/);
    expect(lines.join('\n')).not.toMatch(new RegExp(`${first}|${next}`));
    await t.stop();
    await server.stop();
  });
});
