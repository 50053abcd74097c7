import { type ThrottlerStorage, ThrottlerStorageService } from '@nestjs/throttler';
import { Clock } from '../../foundation/platform/clock';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { MemorySecurityStore } from '../../foundation/security-store/memory-security-store';
import type { SecurityStore, Tally } from '../../foundation/security-store/security-store';
import { SharedThrottlerStorage, type ThrottlerRecord } from './throttler-storage';

const TTL = 60_000;

describe('the shared storage for the host`s throttler', () => {
  let now: number;
  let storage: ThrottlerStorage;
  let own: ThrottlerStorageService;

  beforeEach(() => {
    now = 1_700_000_000_000;
    jest.spyOn(Date, 'now').mockImplementation(() => now);
    // The throttler's own storage reads the time of the machine.
    const clock = Object.assign(new Clock(), { monotonic: () => now });
    storage = new SharedThrottlerStorage(new MemorySecurityStore(clock));
    own = new ThrottlerStorageService();
  });
  afterEach(() => own.onApplicationShutdown());

  const wait = (seconds: number): void => void (now += seconds * 1000);
  const hit = (limit: number, block = TTL, key = 'k', name = 'default'): Promise<ThrottlerRecord> =>
    storage.increment(key, TTL, limit, block, name);

  async function both(limit: number, block: number): Promise<{ shared: ThrottlerRecord; original: ThrottlerRecord }> {
    const shared = await storage.increment('k', TTL, limit, block, 'default');
    return { shared, original: await own.increment('k', TTL, limit, block, 'default') };
  }

  it.each([
    ['as long as the period', 60_000],
    ['longer than the period', 600_000],
    ['shorter than the period', 5000],
  ])('returns the same as the throttler`s own storage, with a block %s', async (_, block) => {
    for (let hits = 1; hits <= 8; hits++) {
      const { shared, original } = await both(3, block);
      expect(shared).toMatchObject({ totalHits: original.totalHits, isBlocked: original.isBlocked });
      expect(shared).toMatchObject(
        shared.isBlocked
          ? { totalHits: 4, timeToBlockExpire: original.timeToBlockExpire }
          : { totalHits: hits, timeToExpire: original.timeToExpire, timeToBlockExpire: 0 },
      );
      expect(shared.isBlocked).toBe(hits > 3);
    }
    wait(block / 1000 - 1);
    const late = await both(3, block);
    expect(late.shared).toMatchObject({ isBlocked: true, timeToBlockExpire: 1 });
    expect(late.original).toMatchObject({ isBlocked: true, timeToBlockExpire: 1 });
    wait(1);
    const fresh = await both(3, block);
    expect(fresh.shared).toEqual({ totalHits: 1, timeToExpire: 60, isBlocked: false, timeToBlockExpire: 0 });
    expect(fresh.original).toMatchObject({ totalHits: 1, isBlocked: false });
  });

  it('reports the whole seconds until the end of the period', async () => {
    expect(await hit(5)).toEqual({ totalHits: 1, timeToExpire: 60, isBlocked: false, timeToBlockExpire: 0 });
    wait(17.5);
    expect(await hit(5)).toEqual({ totalHits: 2, timeToExpire: 43, isBlocked: false, timeToBlockExpire: 0 });
    wait(42.5);
    expect(await hit(5)).toMatchObject({ totalHits: 1, timeToExpire: 60 });
  });

  it('blocks from the first refusal, and does not extend the block after another one', async () => {
    await hit(1, 90_000);
    wait(50);
    expect(await hit(1, 90_000)).toMatchObject({ isBlocked: true, timeToBlockExpire: 90 });
    wait(80);
    expect(await hit(1, 90_000)).toMatchObject({ isBlocked: true, timeToBlockExpire: 10, totalHits: 2 });
    wait(10);
    expect(await hit(1, 90_000)).toMatchObject({ isBlocked: false, totalHits: 1 });
  });

  it('refuses every request with a limit of 0', async () => {
    expect(await hit(0)).toMatchObject({ isBlocked: true, totalHits: 1 });
    expect(await hit(0)).toMatchObject({ isBlocked: true, totalHits: 1 });
  });

  it('counts every key and every throttler separately', async () => {
    for (const [key, name] of [
      ['a', 'short'],
      ['b', 'short'],
      ['a', 'long'],
    ] as const) {
      expect(await hit(1, TTL, key, name)).toMatchObject({ isBlocked: false, totalHits: 1 });
    }
    expect(await hit(1, TTL, 'a', 'short')).toMatchObject({ isBlocked: true, totalHits: 2 });
    expect(await hit(1, TTL, 'c', 'short')).toMatchObject({ isBlocked: false, totalHits: 1 });
  });

  it('counts once, in seconds, with the name of the throttler in the key', async () => {
    const tally: Tally = { admitted: true, buckets: [{ counted: 2, pending: 0, secondsLeft: 0.2 }] };
    const count = jest.fn().mockResolvedValue(tally);
    const shared = new SharedThrottlerStorage({ count } as unknown as SecurityStore);
    expect(await shared.increment('abc', 1500, 9, 2500, 'short')).toMatchObject({ totalHits: 2, timeToExpire: 1 });
    expect(count.mock.calls).toEqual([[[{ key: 'svc:th:short:abc', max: 9, seconds: 1.5, blockSeconds: 2.5 }]]]);
  });

  const UNAVAILABLE = new StoreUnavailable('Redis');
  it.each([
    ['that the store is unavailable', UNAVAILABLE, UNAVAILABLE],
    ['of another kind', new Error('unreachable'), new StoreUnavailable('The security store')],
  ])('answers 503 for an error %s', async (_, error, expected) => {
    const count = jest.fn().mockRejectedValue(error);
    const shared = new SharedThrottlerStorage({ count } as unknown as SecurityStore);
    const refused = shared.increment('k', TTL, 9, TTL, 'default');
    await expect(refused).rejects.toEqual(expected);
    await expect(refused).rejects.toHaveProperty('status', 503);
  });
});
