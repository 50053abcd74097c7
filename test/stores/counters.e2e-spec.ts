import type { Outcome } from '../../libs/auth/src/security-store/security-store';
import { Counters, EMPTY, OUTCOMES, describeStores } from '../support/stores';

const ONCE = { counted: 1, pending: 0, secondsLeft: expect.any(Number) };

describeStores('counters', (start) => {
  const counters = Counters.of(start);

  it('counts up to the maximum and no further', async () => {
    const limit = counters.limit(3);
    for (const counted of [1, 2, 3]) {
      const { admitted, buckets } = await counters.count([limit]);
      expect({ admitted, buckets }).toMatchObject({ admitted: true, buckets: [{ counted, pending: 0 }] });
    }
    for (let i = 0; i < 3; i++) {
      expect(await counters.count([limit])).toMatchObject({ admitted: false, buckets: [{ counted: 3, pending: 0 }] });
    }
    await counters.expectSecondsLeft(limit, 60);
  });

  it('makes room for what is pending, too', async () => {
    const limit = counters.limit(2);
    expect(await counters.count([limit], true)).toMatchObject({
      admitted: true,
      buckets: [{ counted: 0, pending: 1 }],
    });
    expect(await counters.count([limit])).toMatchObject({ admitted: true, buckets: [{ counted: 1, pending: 1 }] });
    for (const pending of [true, false]) {
      const refused = { admitted: false, buckets: [{ counted: 1, pending: 1 }] };
      expect(await counters.count([limit], pending)).toMatchObject(refused);
    }
    await counters.expectSecondsLeft(limit, 60);
  });

  it('counts under every limit or under none, and answers in their order', async () => {
    const [wide, narrow, other] = [counters.limit(9, 600), counters.limit(1), counters.limit(5, 30)];
    expect(await counters.count([wide, narrow])).toMatchObject({
      admitted: true,
      buckets: [{ counted: 1 }, { counted: 1 }],
    });
    for (const pending of [false, true]) {
      const { admitted, buckets } = await counters.count([other, narrow, wide], pending);
      expect(admitted).toBe(false);
      expect(buckets).toEqual([EMPTY, ONCE, ONCE]);
    }
    expect(await counters.read(other)).toEqual(EMPTY);
    expect(await counters.count([other, wide])).toMatchObject({
      admitted: true,
      buckets: [{ counted: 1 }, { counted: 2 }],
    });
    await counters.expectSecondsLeft(wide, 600);
    await counters.expectSecondsLeft(narrow, 60);
    await counters.expectSecondsLeft(other, 30);
  });

  it('of no limits admits, and settles nothing', async () => {
    expect(await counters.count([])).toEqual({ admitted: true, buckets: [] });
    for (const outcome of OUTCOMES) await expect(counters.settle([], outcome)).resolves.not.toThrow();
  });

  it.each([[false], [true]])('admits exactly the maximum of 200 at once, pending: %s', async (pending) => {
    const [limit, shared] = [counters.limit(37), counters.limit(1000)];
    const tallies = await Promise.all(Array.from({ length: 200 }, () => counters.count([shared, limit], pending)));
    expect(tallies.filter(({ admitted }) => admitted)).toHaveLength(37);
    for (const counter of [limit, shared]) {
      expect(await counters.read(counter)).toMatchObject({ counted: pending ? 0 : 37, pending: pending ? 37 : 0 });
    }
  });

  it('counts each of 200 pending attempts that fail at once', async () => {
    const limit = counters.limit(200);
    await Promise.all(
      Array.from({ length: 200 }, async () => {
        await counters.count([limit], true);
        await counters.settle([limit], 'failed');
      }),
    );
    expect(await counters.read(limit)).toMatchObject({ counted: 200, pending: 0 });
  });

  it.each<[Outcome, counted: number]>([
    ['failed', 2],
    ['succeeded', 0],
    ['undone', 1],
  ])('settles an attempt that is %s', async (outcome, counted) => {
    const [one, other] = [counters.limit(9), counters.limit(9)];
    await counters.count([one, other]);
    for (let i = 0; i < 2; i++) await counters.count([one, other], true);
    await counters.settle([one, other], outcome);
    for (const limit of [one, other]) {
      expect(await counters.read(limit)).toEqual({ counted, pending: 1, secondsLeft: expect.any(Number) });
      await counters.expectSecondsLeft(limit, 60);
    }
  });

  it('gives the room of what is undone back, and of what failed not', async () => {
    const limit = counters.limit(1);
    await counters.count([limit], true);
    await counters.settle([limit], 'undone');
    expect(await counters.count([limit], true)).toMatchObject({ admitted: true });
    await counters.settle([limit], 'failed');
    expect(await counters.count([limit], true)).toMatchObject({ admitted: false });
  });

  it('never has less than nothing pending', async () => {
    const limit = counters.limit(9);
    await counters.count([limit]);
    for (const outcome of ['undone', 'failed', 'undone', 'failed'] as const) await counters.settle([limit], outcome);
    expect(await counters.read(limit)).toMatchObject({ counted: 3, pending: 0 });
    await counters.count([limit], true);
    expect(await counters.read(limit)).toMatchObject({ counted: 3, pending: 1 });
  });

  it('counts under one key whatever the bounds, and under two keys apart', async () => {
    const [one, other] = [counters.limit(1), counters.limit(1)];
    await counters.fill(one);
    await counters.fill(other);
    expect((await counters.count([one])).admitted).toBe(false);
    expect(await counters.count([{ ...one, max: 2 }])).toMatchObject({ admitted: true, buckets: [{ counted: 2 }] });
    expect(await counters.read(other)).toMatchObject({ counted: 1 });
  });

  it.each([[Number.MAX_SAFE_INTEGER], [1e21], [1e300]])('admits below a maximum of %d', async (max) => {
    const limit = counters.limit(max);
    expect(await counters.count([limit])).toMatchObject({ admitted: true, buckets: [{ counted: 1 }] });
    expect(await counters.count([limit], true)).toMatchObject({
      admitted: true,
      buckets: [{ counted: 1, pending: 1 }],
    });
  });

  it('keeps counters and values apart', async () => {
    const [value, limit] = [counters.key(), counters.limit(9)];
    await counters.store.setMany([value], 'x', 60);
    await counters.count([limit]);
    await counters.settle([limit], 'failed');
    expect(await counters.store.getMany([value])).toEqual(['x']);
  });
});
