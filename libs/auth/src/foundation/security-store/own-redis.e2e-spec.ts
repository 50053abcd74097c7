import * as redis4 from '@redis/client';
import * as redis5 from 'redis-5';
import { eventually } from '../../../../../test/support/eventually';
import { RedisServer } from '../../../../../test/support/redis';
import { describeWithOwnRedis } from '../../../../../test/support/with-redis';
import { AuthConfigError, StoreUnavailable } from '../platform/errors';
import { OwnRedis } from './own-redis';
import { RedisSecurityStore } from './redis-security-store';

type NodeRedis = NonNullable<ReturnType<NonNullable<Parameters<OwnRedis['open']>[1]>>>;

const VERSIONS = [
  ['4', redis4],
  ['5', redis5],
] as [string, NodeRedis][];

describe('the client of redis.url', () => {
  it('needs a package of the host, and the error has the command that installs it', async () => {
    const opened = new OwnRedis().open('redis://localhost', () => undefined);
    await expect(opened).rejects.toThrow(AuthConfigError);
    await expect(opened).rejects.toThrow(/redis\.url \(SVC_REDIS_URL\).*npm install @redis\/client/);
  });
});

describeWithOwnRedis.each(VERSIONS)('the client of redis.url with node-redis %s', (_, library) => {
  let server: RedisServer;
  let own: OwnRedis;

  beforeEach(async () => {
    [server, own] = [await RedisServer.start(), new OwnRedis()];
  });
  afterEach(async () => {
    await own.onApplicationShutdown();
    await server.stop();
  });

  const store = async (): Promise<RedisSecurityStore> =>
    new RedisSecurityStore(await own.open(server.url, () => library), 500, '', () => own.connected !== undefined);

  it('refuses commands at once while Redis is away, and is used again when it is back', async () => {
    const used = await store();
    await used.setMany(['a'], '1', 60);
    await server.stop();
    await eventually(() =>
      used.getMany(['a']).then(
        () => false,
        (error) => error instanceof StoreUnavailable,
      ),
    );
    await server.start();
    await eventually(() =>
      used.getMany(['a']).then(
        () => true,
        () => false,
      ),
    );
  });

  it('is closed at the end', async () => {
    const client = await own.open(server.url, () => library);
    const used = new RedisSecurityStore(client, 50, '', () => own.connected !== undefined);
    await own.onApplicationShutdown();
    await expect(used.getMany(['a'])).rejects.toThrow(StoreUnavailable);
    expect([client.isOpen, own.connected]).toEqual([false, undefined]);
  });

  it('does not stay open if no connection is possible', async () => {
    const { port } = server;
    await server.stop();
    await expect(own.open(`redis://127.0.0.1:${port}`, () => library)).rejects.toThrow(
      /^redis\.url \(SVC_REDIS_URL\) could not be connected within 5 seconds \(.*ECONNREFUSED.*Check its URL/,
    );
    expect(own.connected).toBeUndefined();
  });
});
