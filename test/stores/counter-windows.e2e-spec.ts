import type { Limit, Outcome } from '../../libs/auth/src/security-store/security-store';
import { Counters, EMPTY, OUTCOMES, describeStores } from '../support/stores';

describeStores('a counter`s window', (start) => {
  const counters = Counters.of(start);

  it.each([[1], [60], [2_592_000], [0.75]])('counts in a window of %d seconds', async (seconds) => {
    const limit = counters.limit(1, seconds);
    await counters.count([limit]);
    const { secondsLeft } = await counters.read(limit);
    expect(secondsLeft).toBeGreaterThan(seconds - 0.7);
    expect(secondsLeft).toBeLessThanOrEqual(Math.ceil(seconds * 1000) / 1000);
    await counters.age(seconds, limit);
    expect(await counters.read(limit)).toEqual(EMPTY);
    expect(await counters.count([limit])).toMatchObject({ admitted: true, buckets: [{ counted: 1, pending: 0 }] });
  });

  it.each([[false], [true]])('counts from the first attempt on, whatever follows, pending: %s', async (pending) => {
    const limit = counters.limit(2);
    await counters.count([limit], pending);
    await counters.age(40, limit);
    await counters.count([limit], pending);
    expect(await counters.count([limit], pending)).toMatchObject({ admitted: false });
    await counters.expectSecondsLeft(limit, 20);
    await counters.age(20, limit);
    expect(await counters.read(limit)).toEqual(EMPTY);
  });

  it('keeps the window of an attempt that is settled', async () => {
    const limit = counters.limit(9);
    await counters.count([limit]);
    for (let i = 0; i < 2; i++) await counters.count([limit], true);
    await counters.age(40, limit);
    for (const outcome of OUTCOMES) {
      await counters.settle([limit], outcome);
      await counters.count([limit], true);
      await counters.expectSecondsLeft(limit, 20);
    }
  });

  it.each<[Outcome]>([['succeeded'], ['undone']])('forgets a counter that %s emptied', async (outcome) => {
    const limit = counters.limit(9);
    await counters.count([limit], true);
    await counters.age(40, limit);
    await counters.settle([limit], outcome);
    expect(await counters.read(limit)).toEqual(EMPTY);
    await counters.count([limit]);
    await counters.expectSecondsLeft(limit, 60);
  });

  it.each<[string, (limit: Limit) => Promise<unknown>]>([
    ['was never there', async () => undefined],
    [
      'is over',
      async (limit) => {
        await counters.count([limit]);
        await counters.count([limit], true);
        await counters.age(61, limit);
      },
    ],
  ])('settles into a counter that %s', async (_, prepare) => {
    for (const [outcome, counted] of [
      ['undone', 0],
      ['succeeded', 0],
      ['failed', 1],
    ] as const) {
      const limit = counters.limit(9);
      await prepare(limit);
      await counters.settle([limit], outcome);
      expect(await counters.read(limit)).toMatchObject({ counted, pending: 0 });
      await counters.expectSecondsLeft(limit, counted * 60);
    }
  });

  it.each([
    ['longer than', 60, 600],
    ['shorter than', 600, 60],
  ])('closes a counter from the first refusal on, for a time %s the window', async (_, seconds, block) => {
    const limit = counters.limit(2, seconds, block);
    await counters.fill(limit);
    await counters.age(30, limit);
    await counters.expectSecondsLeft(limit, seconds - 30);
    expect((await counters.count([limit])).admitted).toBe(false);
    await counters.expectSecondsLeft(limit, block);
    await counters.age(30, limit);
    for (let i = 0; i < 3; i++) expect((await counters.count([limit])).admitted).toBe(false);
    await counters.expectSecondsLeft(limit, block - 30);
    await counters.age(block - 30, limit);
    expect(await counters.count([limit])).toMatchObject({ admitted: true, buckets: [{ counted: 1 }] });
    await counters.expectSecondsLeft(limit, seconds);
  });

  it('closes no counter that has room, or that is not to be closed', async () => {
    const [open, plain, closing] = [counters.limit(9, 60, 600), counters.limit(1), counters.limit(1, 60, 600)];
    await counters.count([open, plain, closing]);
    expect((await counters.count([open, plain, closing])).admitted).toBe(false);
    await counters.expectSecondsLeft(open, 60);
    await counters.expectSecondsLeft(plain, 60);
    await counters.expectSecondsLeft(closing, 600);
  });

  it('closes a counter again after it has been open', async () => {
    const limit = counters.limit(1, 60, 600);
    for (let i = 0; i < 2; i++) {
      await counters.fill(limit);
      expect((await counters.count([limit])).admitted).toBe(false);
      await counters.expectSecondsLeft(limit, 600);
      await counters.age(600, limit);
    }
  });
});

describeStores('a counter that is closed for no time', (start) => {
  const counters = Counters.of(start);

  it.each([[0], [-1], [undefined]])(
    'stays closed until its window is over, with blockSeconds %s',
    async (blockSeconds) => {
      const limit = { ...counters.limit(1), blockSeconds };
      await counters.count([limit]);
      for (let i = 0; i < 3; i++) expect(await counters.count([limit])).toMatchObject({ admitted: false });
      await counters.expectSecondsLeft(limit, 60);
    },
  );
});
