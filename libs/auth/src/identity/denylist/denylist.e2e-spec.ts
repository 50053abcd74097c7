import { randomUUID } from 'node:crypto';
import { redisCache } from '../../../../../apps/sample/src/redis-cache';
import { COMPLETE, deniedKey } from '../../../../../test/support/stores/denylist-state';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { type RedisClient, RedisServer } from '../../../../../test/support/stores/redis';
import { TcpProxy } from '../../../../../test/support/faults/tcp-proxy';
import { describeWithOwnRedis } from '../../../../../test/support/stores/with-redis';
import type { AuthConfig } from '../../foundation/config/auth-config';
import { StoreUnavailable } from '../../foundation/platform/errors';
import type { Realm } from '../../foundation/realm/realm';
import { redisClientOf } from '../../foundation/security-store/first-connection';
import { RedisSecurityStore } from '../../foundation/security-store/redis-security-store';
import { currentOf } from './nodes.testkit';
import { StoreContinuity } from './store-continuity';
import { Denylist } from './denylist';

const STORE_TIMEOUT_MS = 20_000;
const options = { accessTtl: 900, refreshTtl: 86_400, leeway: 5 };
const realm = { options: { ...options, features: { denylist: true } } } as Realm;

describeWithOwnRedis('the denylist in Redis', () => {
  let redis: RedisServer;
  let proxy: TcpProxy;
  let client: RedisClient;
  let operator: RedisClient;
  let store: RedisSecurityStore;
  let continuity: StoreContinuity;

  beforeAll(async () => {
    redis = await RedisServer.start();
    proxy = await TcpProxy.to(redis.port);
    ({ client } = await redisCache(proxy.through(redis.url)));
    ({ client: operator } = await redisCache(redis.url));
    store = new RedisSecurityStore(redisClientOf(client)!, STORE_TIMEOUT_MS);
    continuity = new StoreContinuity(store, { storeTimeoutMs: STORE_TIMEOUT_MS } as AuthConfig);
  });
  beforeEach(async () => {
    await redis.flush();
    await eventually(async () => store.identify().then(() => store.instance !== null));
  });
  afterAll(async () => {
    await client.disconnect();
    await operator.disconnect();
    await proxy.close();
    await redis.stop();
  });

  const denylist = (issues: boolean): Denylist =>
    new Denylist(store, continuity, realm, { verifyOnly: !issues, storeTimeoutMs: STORE_TIMEOUT_MS } as AuthConfig);
  const isDenied = async (id: string): Promise<boolean> => (await operator.exists(deniedKey(id))) === 1;

  describe('that receives an end before the commit', () => {
    it('keeps the denial as long as the session could be refreshed, and after the commit until every token has expired', async () => {
      const id = randomUUID();
      await denylist(true).deny([id.toUpperCase()]);
      expect(await operator.ttl(deniedKey(id))).toBeGreaterThan(realm.options.refreshTtl);
      await denylist(true).keep([id]);
      expect(await operator.ttl(deniedKey(id))).toBeGreaterThan(900 + 5 + 30);
      expect(await operator.ttl(deniedKey(id))).toBeLessThanOrEqual(900 + 5 + 60);
    });

    it('is written again after the commit, because the store may have lost it', async () => {
      const id = randomUUID();
      await denylist(true).deny([id]);
      await redis.flush();
      expect(await isDenied(id)).toBe(false);
      await denylist(true).keep([id]);
      expect(await isDenied(id)).toBe(true);
    });

    it('needs no store if no session ended', async () => {
      proxy.hang();
      await denylist(true).deny([]);
      await denylist(true).keep([]);
      proxy.heal();
    });
  });

  describe('that a service without PostgreSQL reads', () => {
    it.each<[what: string, mark: () => Promise<unknown>, complete: boolean]>([
      ['marked complete', async () => store.setMany([COMPLETE], await currentOf(continuity), 60), true],
      ['not marked', () => currentOf(continuity), false],
      [
        'marked with another continuity',
        async () => {
          await currentOf(continuity);
          await store.setMany([COMPLETE], 'f'.repeat(32), 60);
        },
        false,
      ],
      ['marked, without the random key', () => store.setMany([COMPLETE], 'null', 60), false],
    ])('reports its denials, and whether it is complete: %s', async (_, mark, complete) => {
      await mark();
      const [session, token, other] = [randomUUID(), randomUUID(), randomUUID()];
      const denials = denylist(false);
      await denials.deny([session]);
      await operator.set(`svc:dl:jti:${token}`, 'true');
      expect(await denials.read({ fid: other, jti: other })).toEqual({ denied: false, complete });
      expect(await denials.read({ fid: session, jti: other })).toEqual({ denied: true, complete });
      expect(await denials.read({ fid: other, jti: token })).toEqual({ denied: true, complete });
      // A token of another issuer may have neither id.
      expect(await denials.read({})).toEqual({ denied: false, complete });
      expect(await denials.read({ fid: '', jti: 7 })).toEqual({ denied: false, complete });
    });

    it('is not complete while its server is unknown', async () => {
      await store.setMany([COMPLETE], await currentOf(continuity), 60);
      const denials = denylist(false);
      expect(await denials.read({ fid: randomUUID() })).toEqual({ denied: false, complete: true });
      jest.spyOn(store, 'instance', 'get').mockReturnValue(null);
      expect(await denials.read({ fid: randomUUID() })).toEqual({ denied: false, complete: false });
    });
  });

  it('is read once for each token of an issuing node, and not for a token without ids', async () => {
    const reads = jest.spyOn(store, 'getMany');
    const issuing = denylist(true);
    expect(await issuing.read({ fid: randomUUID(), jti: randomUUID() })).toMatchObject({ denied: false });
    expect(reads).toHaveBeenCalledTimes(1);
    expect(await issuing.read({})).toMatchObject({ denied: false });
    expect(reads).toHaveBeenCalledTimes(1);
  });

  it.each([true, false])(
    'is read once for all tokens of one turn of the event loop, and each token gets its own answer (issuing node: %s)',
    async (issues) => {
      await store.setMany([COMPLETE], await currentOf(continuity), 60);
      const denials = denylist(issues);
      const sessions = Array.from({ length: 40 }, () => randomUUID());
      const tokens = sessions.map(() => randomUUID());
      await denials.deny(sessions.filter((_, i) => i % 7 === 3));
      await operator.set(`svc:dl:jti:${tokens[5]}`, 'true');
      const reads = jest.spyOn(store, 'getMany').mockClear();
      // Tokens of another issuer lack ids, so the lists of keys have different lengths.
      const read = (fid: string, i: number) =>
        denials.read({ fid: i % 4 ? fid : undefined, jti: i % 3 ? tokens[i] : '' });
      const answers = await Promise.all(sessions.map(read));
      expect(reads).toHaveBeenCalledTimes(1);
      expect(answers.map(({ denied }) => denied)).toEqual(
        sessions.map((_, i) => (i % 7 === 3 && i % 4 > 0) || (i === 5 && i % 3 > 0)),
      );
      expect(new Set(answers.map(({ complete }) => complete))).toEqual(new Set([!issues]));
    },
  );

  it('that does not answer causes an error, and never reports that a session is not denied', async () => {
    proxy.down();
    for (const issues of [true, false]) {
      await expect(denylist(issues).read({ fid: randomUUID() })).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(denylist(issues).deniesFamily(randomUUID())).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(denylist(issues).deny([randomUUID()])).rejects.toBeInstanceOf(StoreUnavailable);
    }
    proxy.heal();
    await eventually(async () => client.isReady);
  });
});

describe('the denylist that is switched off', () => {
  it('denies nothing, and is complete', async () => {
    // Without a store: a denylist that is off reads and writes none.
    const ofGuard = { options: { ...options, features: { denylist: false } } } as Realm;
    const off = new Denylist(undefined!, undefined!, ofGuard, undefined!);
    await off.deny([randomUUID()]);
    await off.keep([randomUUID()]);
    expect(off.lifetime).toBe(0);
    expect(await off.denyToken(randomUUID())).toBe(false);
    expect(await off.completeness()).toBe('all');
    expect(await off.read({ jti: randomUUID() })).toEqual({ denied: false, complete: true });
    expect(await off.deniesFamily(randomUUID())).toBe(false);
  });
});
