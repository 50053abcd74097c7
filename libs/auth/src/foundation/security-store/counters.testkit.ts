import * as fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import type { Bucket, Limit, AttemptOutcome } from './security-store';
import { Counters, EMPTY, OUTCOMES, type TestedStore, inMemory } from './stores.testkit';

const ONCE = { counted: 1, pending: 0, secondsLeft: expect.any(Number) };

export function counting(start: () => Promise<TestedStore>): void {
  const counters = Counters.of(start);

  it('admit attempts up to the maximum', async () => {
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

  it('count pending attempts toward the maximum', async () => {
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

  it('are read without a count', async () => {
    const limit = counters.limit(1);
    expect(await counters.read(limit)).toEqual(EMPTY);
    await counters.count([limit]);
    for (let i = 0; i < 3; i++) expect(await counters.read(limit)).toEqual(ONCE);
    await counters.settle([limit], 'succeeded');
    expect(await counters.count([limit])).toMatchObject({ admitted: true });
  });

  it('count an attempt under every limit or under none, and return the counters in the order of the limits', async () => {
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

  it('admit an attempt without limits, and settle it without effect', async () => {
    expect(await counters.count([])).toEqual({ admitted: true, buckets: [] });
    for (const outcome of OUTCOMES) await expect(counters.settle([], outcome)).resolves.not.toThrow();
  });

  it.each([[false], [true]])('admit exactly the maximum of 200 concurrent attempts, pending: %s', async (pending) => {
    const [limit, shared] = [counters.limit(37), counters.limit(1000)];
    const tallies = await Promise.all(Array.from({ length: 200 }, () => counters.count([shared, limit], pending)));
    expect(tallies.filter(({ admitted }) => admitted)).toHaveLength(37);
    for (const counter of [limit, shared]) {
      expect(await counters.read(counter)).toMatchObject({ counted: pending ? 0 : 37, pending: pending ? 37 : 0 });
    }
  });

  it('count each of 200 pending attempts that fail concurrently', async () => {
    const limit = counters.limit(200);
    await Promise.all(
      Array.from({ length: 200 }, async () => {
        await counters.count([limit], true);
        await counters.settle([limit], 'failed');
      }),
    );
    expect(await counters.read(limit)).toMatchObject({ counted: 200, pending: 0 });
  });

  it.each<[AttemptOutcome, counted: number]>([
    ['failed', 2],
    ['succeeded', 0],
    ['undone', 1],
  ])('settle an attempt with the outcome %s', async (outcome, counted) => {
    const [one, other] = [counters.limit(9), counters.limit(9)];
    await counters.count([one, other]);
    for (let i = 0; i < 2; i++) await counters.count([one, other], true);
    await counters.settle([one, other], outcome);
    for (const limit of [one, other]) {
      expect(await counters.read(limit)).toEqual({ counted, pending: 1, secondsLeft: expect.any(Number) });
      await counters.expectSecondsLeft(limit, 60);
    }
  });

  it('admit a further attempt after an undone one, and not after a failed one', async () => {
    const limit = counters.limit(1);
    await counters.count([limit], true);
    await counters.settle([limit], 'undone');
    expect(await counters.count([limit], true)).toMatchObject({ admitted: true });
    await counters.settle([limit], 'failed');
    expect(await counters.count([limit], true)).toMatchObject({ admitted: false });
  });

  it('never have a negative number of pending attempts', async () => {
    const limit = counters.limit(9);
    await counters.count([limit]);
    for (const outcome of ['undone', 'failed', 'undone', 'failed'] as const) await counters.settle([limit], outcome);
    expect(await counters.read(limit)).toMatchObject({ counted: 3, pending: 0 });
    await counters.count([limit], true);
    expect(await counters.read(limit)).toMatchObject({ counted: 3, pending: 1 });
  });

  it('share a key across different maximums, and count different keys separately', async () => {
    const [one, other] = [counters.limit(1), counters.limit(1)];
    await counters.fill(one);
    await counters.fill(other);
    expect((await counters.count([one])).admitted).toBe(false);
    expect(await counters.count([{ ...one, max: 2 }])).toMatchObject({ admitted: true, buckets: [{ counted: 2 }] });
    expect(await counters.read(other)).toMatchObject({ counted: 1 });
  });

  it.each([[Number.MAX_SAFE_INTEGER], [1e21], [1e300]])('admit attempts with a maximum of %d', async (max) => {
    const limit = counters.limit(max);
    expect(await counters.count([limit])).toMatchObject({ admitted: true, buckets: [{ counted: 1 }] });
    expect(await counters.count([limit], true)).toMatchObject({
      admitted: true,
      buckets: [{ counted: 1, pending: 1 }],
    });
  });

  it('are separate from values', async () => {
    const [value, limit] = [counters.key(), counters.limit(9)];
    await counters.store.setMany([value], 'x', 60);
    await counters.count([limit]);
    await counters.settle([limit], 'failed');
    expect(await counters.store.getMany([value])).toEqual(['x']);
  });
}

export function windows(start: () => Promise<TestedStore>): void {
  const counters = Counters.of(start);

  it.each([[1], [60], [2_592_000], [0.75]])('lasts %d seconds', async (seconds) => {
    const limit = counters.limit(1, seconds);
    await counters.count([limit]);
    await counters.expectSecondsLeft(limit, seconds);
    await counters.age(seconds, limit);
    expect(await counters.read(limit)).toEqual(EMPTY);
    expect(await counters.count([limit])).toMatchObject({ admitted: true, buckets: [{ counted: 1, pending: 0 }] });
  });

  it.each([[false], [true]])(
    'begins with the first attempt and is not extended by later ones, pending: %s',
    async (pending) => {
      const limit = counters.limit(2);
      await counters.count([limit], pending);
      await counters.age(40, limit);
      await counters.count([limit], pending);
      expect(await counters.count([limit], pending)).toMatchObject({ admitted: false });
      await counters.expectSecondsLeft(limit, 20);
      await counters.age(20, limit);
      expect(await counters.read(limit)).toEqual(EMPTY);
    },
  );

  it('does not change when an attempt is settled', async () => {
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

  it.each<[AttemptOutcome]>([['succeeded'], ['undone']])(
    'ends when the outcome %s empties the counter',
    async (outcome) => {
      const limit = counters.limit(9);
      await counters.count([limit], true);
      await counters.age(40, limit);
      await counters.settle([limit], outcome);
      expect(await counters.read(limit)).toEqual(EMPTY);
      await counters.count([limit]);
      await counters.expectSecondsLeft(limit, 60);
    },
  );

  it.each<[string, (limit: Limit) => Promise<unknown>]>([
    ['does not exist', async () => undefined],
    [
      'has expired',
      async (limit) => {
        await counters.count([limit]);
        await counters.count([limit], true);
        await counters.age(61, limit);
      },
    ],
  ])('settles an attempt of a counter that %s', async (_, prepare) => {
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
  ])('is replaced at the first refusal by a block %s the window', async (_, seconds, block) => {
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

  it('is not replaced by a block below the maximum or without blockSeconds', async () => {
    const [open, plain, closing] = [counters.limit(9, 60, 600), counters.limit(1), counters.limit(1, 60, 600)];
    await counters.count([open, plain, closing]);
    expect((await counters.count([open, plain, closing])).admitted).toBe(false);
    await counters.expectSecondsLeft(open, 60);
    await counters.expectSecondsLeft(plain, 60);
    await counters.expectSecondsLeft(closing, 600);
  });

  it('is replaced by a block again after the first block has ended', async () => {
    const limit = counters.limit(1, 60, 600);
    for (let i = 0; i < 2; i++) {
      await counters.fill(limit);
      expect((await counters.count([limit])).admitted).toBe(false);
      await counters.expectSecondsLeft(limit, 600);
      await counters.age(600, limit);
    }
  });
}

export function withoutBlock(start: () => Promise<TestedStore>): void {
  const counters = Counters.of(start);

  it.each([[0], [-1], [undefined]])(
    'refuses attempts until its window ends, with blockSeconds %s',
    async (blockSeconds) => {
      const limit = { ...counters.limit(1), blockSeconds };
      await counters.count([limit]);
      for (let i = 0; i < 3; i++) expect(await counters.count([limit])).toMatchObject({ admitted: false });
      await counters.expectSecondsLeft(limit, 60);
    },
  );
}

const NAMES = ['a', 'b', 'c'];

// No sum of ages equals a window or a block, so that the duration of a run does not change the result.
const limits = fc.uniqueArray(
  fc.record(
    {
      key: fc.constantFrom(...NAMES),
      max: fc.integer({ min: 0, max: 4 }),
      seconds: fc.constantFrom(60, 110),
      blockSeconds: fc.constantFrom(40, 85),
    },
    { requiredKeys: ['key', 'max', 'seconds'] },
  ),
  { selector: ({ key }) => key },
);
const count = fc.record({ count: limits, pending: fc.boolean() });
const settle = fc.record({ settle: limits, outcome: fc.constantFrom(...OUTCOMES) });
const age = fc.record({ seconds: fc.constantFrom(25, 50) });
const commands = fc.array(
  fc.oneof({ weight: 5, arbitrary: count }, { weight: 2, arbitrary: settle }, { weight: 1, arbitrary: age }),
  { maxLength: 30 },
);
type Command = typeof commands extends fc.Arbitrary<(infer One)[]> ? One : never;

/** Rounds the remaining seconds for the comparison, because time passes between the calls of the two stores. */
const roughly = ({ secondsLeft, ...rest }: Bucket) => ({ ...rest, secondsLeft: 5 * Math.ceil(secondsLeft / 5 - 0.01) });

/** Returns the results of all commands and the final state of every counter. */
async function answers(tested: TestedStore, given: Command[]): Promise<unknown[]> {
  const run = randomUUID();
  const here = <One extends { key: string }>(all: One[]) =>
    all.map((limit) => ({ ...limit, key: `${run}:${limit.key}` }));
  const tally = async (all: Limit[], pending = false) => {
    const { admitted, buckets } = await tested.store.count(here(all), pending);
    return { admitted, buckets: buckets.map(roughly) };
  };
  const results: unknown[] = [];
  for (const command of given) {
    if ('count' in command) results.push(await tally(command.count, command.pending));
    else if ('settle' in command) await tested.store.settle(here(command.settle), command.outcome);
    else await tested.age(command.seconds, ...NAMES.map((name) => `${run}:${name}`));
  }
  return [...results, await tally(NAMES.map((key) => ({ key, max: 0, seconds: 1 })))];
}

/** Checks that a store counts like the store in memory for every sequence of commands. */
export const expectLikeMemory = (store: TestedStore, numRuns: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(commands, async (given) => {
      expect(await answers(store, given)).toEqual(await answers(inMemory(), given));
    }),
    { numRuns },
  );
