import { Logger } from '@nestjs/common';
import { createClient } from 'redis-5';
import { RedisServer } from '../../../../../test/support/stores/redis';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { describeWithOwnRedis } from '../../../../../test/support/stores/with-redis';
import { StoreUnavailable } from '../platform/errors';
import { redisClientOf } from './first-connection';
import { RedisSecurityStore } from './redis-security-store';
import { type SecurityStore, UNNAMED } from './security-store';
import { Reader, nameOf } from './instance.testkit';
import { type TestedStore, throughCacheManager, throughClient, throughClient5 } from './stores.testkit';

describeWithOwnRedis.each([
  ['below a cache-manager cache', throughCacheManager],
  ['on a node-redis client', throughClient],
  ['on a client of node-redis 5', throughClient5],
])('the instance of the store %s', (_, connect) => {
  let redis: RedisServer;
  let tested: TestedStore;
  let store: SecurityStore;

  beforeEach(async () => {
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    redis = await RedisServer.start();
    tested = await connect(redis.url);
    ({ store } = tested);
  });
  afterEach(async () => {
    await tested.close();
    await redis.stop();
  });

  it('does not change when the store is emptied', async () => {
    const instance = await nameOf(store);
    await store.setMany(['k'], 'x', 600);
    await redis.flush();
    expect(await store.getMany(['k'])).toEqual([null]);
    await store.identify();
    expect(store.instance).toBe(instance);
  });

  it('does not change when only the connection breaks', async () => {
    const instance = await nameOf(store);
    await store.setMany(['k'], 'x', 600);
    const reader = await Reader.of(store, ['k']);
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal');
    await eventually(async () => reader.unknown > 0);
    await reader.stop();
    expect(await nameOf(store)).toBe(instance);
  });

  it('changes after a restart, before the first answer of the new server', async () => {
    for (let round = 0; round < 5; round++) {
      await store.setMany(['k'], 'x', 600);
      const instance = await nameOf(store);
      const reader = await Reader.of(store, ['k']);
      await redis.stop();
      await redis.start();
      await eventually(async () => reader.misses > 0);
      await reader.stop();
      expect(reader.wrong).toEqual([]);
      expect(await nameOf(store)).not.toBe(instance);
    }
  });

  it('is unknown while the server is a replica, and changes when it has the data of another server', async () => {
    const other = await RedisServer.start();
    const instance = await nameOf(store);
    await redis.command('REPLICAOF', '127.0.0.1', String(other.port));
    await store.identify();
    expect(store.instance).toBeNull();
    await eventually(async () => (await redis.command('INFO', 'replication')).includes('master_link_status:up'));
    await redis.command('REPLICAOF', 'NO', 'ONE');
    expect(await nameOf(store)).not.toBe(instance);
    await other.stop();
  });

  it('is UNNAMED while the server does not provide its name', async () => {
    const instance = await nameOf(store);
    await redis.command('ACL', 'SETUSER', 'default', '-info');
    await store.identify();
    expect(store.instance).toBe(UNNAMED);
    await redis.command('ACL', 'SETUSER', 'default', '+info');
    await store.identify();
    expect(store.instance).toBe(instance);
  });

  it('is unknown when the server does not provide its name in time', async () => {
    const instance = await nameOf(store);
    redis.freeze();
    await expect(store.identify()).rejects.toBeInstanceOf(StoreUnavailable);
    expect(store.instance).toBeNull();
    redis.thaw();
    expect(await nameOf(store)).toBe(instance);
  });
});

describeWithOwnRedis('a command that is sent again after a broken connection', () => {
  it('is not attributed to the previous server', async () => {
    const redis = await RedisServer.start();
    const client = createClient({ url: redis.url, socket: { reconnectStrategy: 50 } });
    await client.on('error', () => undefined).connect();
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const store = new RedisSecurityStore(redisClientOf(client)!, 30_000);
    await store.setMany(['k'], 'x', 600);
    const instance = await nameOf(store);
    redis.freeze();
    // Larger than the buffers of the connection: node-redis keeps the next command in its queue.
    client.set('large', Buffer.alloc(64 * 1024 * 1024)).catch(() => undefined);
    const reading = store.getMany(['k']).then((values) => ({ values, after: store.instance }));
    expect(store.instance).toBe(instance);
    await redis.stop();
    await redis.start();
    const { values, after } = await reading;
    expect(values).toEqual([null]);
    expect(after).not.toBe(instance);
    client.destroy();
    await redis.stop();
  });
});
