import { describeWithRedis, sharedRedisUrl } from '../../../../../test/support/stores/with-redis';
import { counting, expectLikeMemory, windows, withoutBlock } from './counters.testkit';
import { type TestedStore, describeStores, throughCacheManager, throughClient } from './stores.testkit';

describeStores('counters', counting);
describeStores('a counter`s window', windows);
describeStores('a counter without a block', withoutBlock);

describeWithRedis.each([
  ['below a cache-manager cache', throughCacheManager],
  ['on a node-redis client', throughClient],
])('the store %s', (_, connect) => {
  let redis: TestedStore;

  beforeAll(async () => void (redis = await connect(sharedRedisUrl()!)));
  afterAll(() => redis.close());

  it('counts like the store in memory for every sequence of commands', () => expectLikeMemory(redis, 200));
});
