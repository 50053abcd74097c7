import { redisCache } from '../../apps/sample/src/redis-cache';
import { describeWithRedis, sharedRedisUrl } from '../support/stores/with-redis';

const ProcessEnvironment: { prototype: { setup(): Promise<void> } } = require('./process-environment.cjs');

describeWithRedis('a test file', () => {
  it('starts with an empty Redis, whatever the file before has left there', async () => {
    const { client } = await redisCache(sharedRedisUrl()!);
    await client.set('limit:login:127.0.0.1', '10');
    await ProcessEnvironment.prototype.setup.call(undefined);
    expect(await client.dbSize()).toBe(0);
    await client.disconnect();
  });
});
