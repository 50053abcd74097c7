import { RedisServer } from '../../../../../test/support/stores/redis';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { HELD_MS, whenTimedOut } from '../../../../../test/support/faults/store-timeouts';
import { describeWithOwnRedis } from '../../../../../test/support/stores/with-redis';
import { StoreUnavailable } from '../platform/errors';
import type { RedisClient } from './redis-client';
import {
  type Client,
  OUTCOMES,
  type TestedStore,
  throughCacheManager,
  throughClient,
  throughClient5,
} from './stores.testkit';

describeWithOwnRedis.each([
  ['below a cache-manager cache', throughCacheManager],
  ['as a node-redis client', throughClient],
  ['as a client of node-redis 5', throughClient5],
])('a Redis %s that does not answer', (_, connect) => {
  let redis: RedisServer;
  let tested: TestedStore;

  beforeAll(async () => {
    redis = await RedisServer.start();
    tested = await connect(redis.url, HELD_MS);
    await tested.store.setMany(['k'], 'x', 600);
    // A client-side cache would now contain this key.
    await tested.store.getMany(['k', 'absent']);
  });
  afterAll(async () => {
    await tested.close();
    await redis.stop();
  });

  async function expectUnavailable(): Promise<void> {
    const { store } = tested;
    const limits = [{ key: 'late counter', max: 5, seconds: 60 }];
    const calls = [
      () => store.getMany(['k', 'absent']),
      () => store.setMany(['a', 'b'], 'late', 60),
      () => store.count(limits),
      () => store.count(limits, true),
      ...OUTCOMES.map((outcome) => () => store.settle(limits, outcome)),
    ].map((call): Promise<unknown> => whenTimedOut<unknown>(call));
    for (const result of await Promise.allSettled(calls)) {
      expect(result).toEqual({ status: 'rejected', reason: expect.any(StoreUnavailable) });
    }
  }

  const awaitAnswer = () =>
    eventually(() =>
      tested.store.getMany(['k']).then(
        () => true,
        () => false,
      ),
    );

  it('because it hangs causes an error in time and never an empty result', async () => {
    redis.freeze();
    await expectUnavailable();
    redis.thaw();
    await awaitAnswer();
    expect(await tested.store.getMany(['k'])).toEqual(['x']);
  });

  it('because it has stopped causes an error in time, and nothing is written later', async () => {
    await redis.stop();
    const { client } = tested.store as unknown as { client: RedisClient };
    await eventually(async () => client.isReady === false);
    await expectUnavailable();
    await redis.start();
    await awaitAnswer();
    expect(await tested.store.getMany(['a', 'b'])).toEqual([null, null]);
    const { buckets } = await tested.store.count([{ key: 'late counter', max: 0, seconds: 60 }]);
    expect(buckets).toEqual([{ counted: 0, pending: 0, secondsLeft: 0 }]);
  });

  it('with success to every command causes an error, also when it refuses only the last one', async () => {
    const { client } = tested.store as unknown as { client: RedisClient & Client };
    await client.sendCommand(['ACL', 'SETUSER', 'default', 'resetkeys', '~open:*']);
    await expect(tested.store.setMany(['open:1', 'open:2', 'closed:3'], 'x', 60)).rejects.toBeInstanceOf(
      StoreUnavailable,
    );
    await expect(tested.store.getMany(['open:1', 'closed:3'])).rejects.toBeInstanceOf(StoreUnavailable);
    const limits = ['open:4', 'closed:5'].map((key) => ({ key, max: 5, seconds: 60 }));
    await expect(tested.store.count(limits)).rejects.toBeInstanceOf(StoreUnavailable);
    for (const outcome of OUTCOMES) {
      await expect(tested.store.settle(limits, outcome)).rejects.toBeInstanceOf(StoreUnavailable);
    }
    await client.sendCommand(['ACL', 'SETUSER', 'default', 'allkeys']);
    expect(await tested.store.getMany(['closed:3'])).toEqual([null]);
    expect(await tested.store.count(limits)).toMatchObject({ buckets: [{ counted: 1 }, { counted: 1 }] });
  });
});
