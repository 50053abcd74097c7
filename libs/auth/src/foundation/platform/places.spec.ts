import { Places } from './sweep';

const MAX_WAIT_MS = 1000;
const BUSY = new Error('busy');

describe('a limited number of places', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  /** Takes places, and records the numbers of the calls that got one. */
  function taking(places: Places, calls: number) {
    const taken: number[] = [];
    const all = Array.from({ length: calls }, async (_, i) => {
      const giveBack = await places.take();
      taken.push(i);
      return giveBack;
    });
    return { taken, all };
  }

  it('is given in the order of the calls, each place to one call at a time', async () => {
    const { taken, all } = taking(new Places(2, MAX_WAIT_MS, () => BUSY), 5);
    await jest.advanceTimersByTimeAsync(0);
    expect(taken).toEqual([0, 1]);
    (await all[1]!)();
    await jest.advanceTimersByTimeAsync(0);
    expect(taken).toEqual([0, 1, 2]);
    (await all[0]!)();
    (await all[2]!)();
    await jest.advanceTimersByTimeAsync(0);
    expect(taken).toEqual([0, 1, 2, 3, 4]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('refuses a call that has waited too long, and gives its place to none', async () => {
    const places = new Places(1, MAX_WAIT_MS, () => BUSY);
    const { taken, all } = taking(places, 2);
    const refused = all[1]!.catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(MAX_WAIT_MS - 1);
    const late = places.take();
    await jest.advanceTimersByTimeAsync(1);
    expect(await refused).toBe(BUSY);
    (await all[0]!)();
    (await late)();
    expect(taken).toEqual([0]);
    await expect(places.take()).resolves.toEqual(expect.any(Function));
    expect(jest.getTimerCount()).toBe(0);
  });

  it('refuses a call at once if 100 calls wait', async () => {
    const { all } = taking(new Places(1, MAX_WAIT_MS, () => BUSY), 102);
    const answers = Promise.allSettled(all.slice(1));
    await jest.advanceTimersByTimeAsync(0);
    expect(jest.getTimerCount()).toBe(100);
    await expect(all[101]).rejects.toBe(BUSY);
    await jest.advanceTimersByTimeAsync(MAX_WAIT_MS);
    expect(new Set((await answers).map(({ status }) => status))).toEqual(new Set(['rejected']));
  });

  it('is given first to work that takes its place again, however long it waits', async () => {
    const places = new Places(1, MAX_WAIT_MS, () => BUSY);
    const { taken, all } = taking(places, 1);
    let isBack = false;
    const again = places.takeAgain().then((giveBack) => ((isBack = true), giveBack));
    await jest.advanceTimersByTimeAsync(5 * MAX_WAIT_MS);
    const next = taking(places, 1);
    expect([taken, isBack]).toEqual([[0], false]);
    (await all[0]!)();
    (await again)();
    expect([isBack, next.taken]).toEqual([true, []]);
    await jest.advanceTimersByTimeAsync(0);
    expect(next.taken).toEqual([0]);
  });
});
