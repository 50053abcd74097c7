import * as fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import type { Bucket, Limit } from '../../libs/auth/src/security-store/security-store';
import { OUTCOMES, type Subject, inMemory, throughCacheManager, throughClient } from '../support/stores';
import { describeWithRedis, sharedRedisUrl } from '../support/with-redis';

const NAMES = ['a', 'b', 'c'];

// Ages add up to no window and no block, so that nothing ends within the time that a run takes.
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

/** A counter for comparison: stores are asked one after the other, some milliseconds apart. */
const roughly = ({ secondsLeft, ...rest }: Bucket) => ({ ...rest, secondsLeft: 5 * Math.round(secondsLeft / 5) });

/** What a store says to every command, and how it leaves every counter. */
async function answers(subject: Subject, given: Command[]): Promise<unknown[]> {
  const run = randomUUID();
  const here = <One extends { key: string }>(all: One[]) => all.map((one) => ({ ...one, key: `${run}:${one.key}` }));
  const tally = async (all: Limit[], pending = false) => {
    const { admitted, buckets } = await subject.store.count(here(all), pending);
    return { admitted, buckets: buckets.map(roughly) };
  };
  const told: unknown[] = [];
  for (const command of given) {
    if ('count' in command) told.push(await tally(command.count, command.pending));
    else if ('settle' in command) await subject.store.settle(here(command.settle), command.outcome);
    else await subject.age(command.seconds, ...NAMES.map((name) => `${run}:${name}`));
  }
  return [...told, await tally(NAMES.map((key) => ({ key, max: 0, seconds: 1 })))];
}

describeWithRedis.each([
  ['below a cache-manager cache', throughCacheManager],
  ['on a node-redis client', throughClient],
])('the store %s', (_, connect) => {
  let redis: Subject;

  beforeAll(async () => void (redis = await connect(sharedRedisUrl()!)));
  afterAll(() => redis.close());

  it('counts as the store in memory does, whatever happens in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(commands, async (given) => {
        expect(await answers(redis, given)).toEqual(await answers(inMemory(), given));
      }),
      { numRuns: 200 },
    );
  });
});
