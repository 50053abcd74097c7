import { SecurityStore } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestApp } from '../support/hosts/app';
import { TcpProxy } from '../support/faults/tcp-proxy';
import { describeWithRedis, sharedRedisUrl } from '../support/stores/with-redis';

describeWithRedis('a connection to Redis that breaks', () => {
  let proxy: TcpProxy;
  let t: TestApp;
  let store: SecurityStore;
  const prefix = `broken:${randomUUID()}`;
  const [there, missing, counter] = ['there', 'missing', 'counter'].map((name) => `${prefix}:${name}`) as [
    string,
    string,
    string,
  ];

  beforeAll(async () => {
    proxy = await TcpProxy.to(Number(new URL(sharedRedisUrl()!).port));
    t = await TestApp.start({ redisUrl: proxy.through(sharedRedisUrl()!) });
    store = t.app.get(SecurityStore);
    await store.setMany([there], 'a value of some length', 600);
  });
  afterAll(async () => {
    await t.stop();
    await proxy.close();
  });

  const ask = () =>
    Promise.all([
      store.getMany([there, missing]),
      store.count([{ key: counter, max: 0, seconds: 600 }]),
      store.getMany([missing, there]),
    ]);

  it('at any byte of a reply is replaced, and no command gets the reply of another one', async () => {
    for (let bytes = 1; bytes <= 90; bytes++) {
      proxy.resetAfter(bytes);
      await ask().catch(() => undefined);
      for (let answer; !answer;) {
        answer = await ask().catch(() => sleep(10));
        if (!answer) continue;
        const [first, { buckets }, second] = answer;
        const value = 'a value of some length';
        expect({ bytes, first, buckets, second }).toEqual({
          bytes,
          first: [value, null],
          buckets: [{ counted: 0, pending: 0, secondsLeft: 0 }],
          second: [null, value],
        });
      }
    }
  });
});
