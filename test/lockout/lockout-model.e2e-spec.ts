import * as fc from 'fast-check';
import { AccountLocked, AccountReleased } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { TestApp } from '../support/app';
import { PASSWORD } from '../support/people';

const MAX = 4;
const RELEASE_AFTER = 100;

type Step = { who: 'ada' | 'bob' | 'nobody'; right: boolean } | { wait: number };

/** The rule in its plainest form: a run of failures, and when it locked. */
class Model {
  private readonly runs = new Map<string, { attempts: number; lockedAt?: number }>();
  now = 0;
  locked = 0;
  released = 0;

  attempt(who: string, right: boolean): number {
    const run = this.runs.get(who) ?? { attempts: 0 };
    if (run.lockedAt !== undefined && this.now < run.lockedAt + RELEASE_AFTER) return 423;
    if (run.lockedAt !== undefined) Object.assign(run, { attempts: 0, lockedAt: undefined });
    this.runs.set(who, run);
    if (++run.attempts === MAX) {
      run.lockedAt = this.now;
      this.locked++;
    }
    if (!right || who === 'nobody') return 422;
    this.runs.delete(who);
    this.released++;
    return 200;
  }
}

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: fc.record({
      who: fc.constantFrom('ada' as const, 'bob' as const, 'nobody' as const),
      right: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
    }),
    weight: 8,
  },
  { arbitrary: fc.record({ wait: fc.constantFrom(10, 45, 60, 150) }), weight: 1 },
);

describe('any sequence of logins and waits', () => {
  it('is answered as the plain rule says, with an event for every change', async () => {
    const t = await TestApp.start({
      options: { features: { lockout: true }, lockout: { maxAttempts: MAX, releaseAfter: RELEASE_AFTER } },
    });
    const [locked, released] = [t.recorded(AccountLocked), t.recorded(AccountReleased)];
    const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const run = randomUUID().slice(0, 8);
      for (const name of ['ada', 'bob']) await t.person(`${name}-${run}@example.com`);
      const [model, before] = [new Model(), [locked.length, released.length] as const];
      for (const one of steps) {
        if ('wait' in one) {
          t.clock.advance(one.wait);
          model.now += one.wait;
        } else {
          const { status } = await t.login(`${one.who}-${run}@example.com`, one.right ? PASSWORD : 'wrong');
          expect(status).toBe(model.attempt(one.who, one.right));
        }
      }
      expect([locked.length - before[0], released.length - before[1]]).toEqual([model.locked, model.released]);
    });
    await fc.assert(property, { numRuns: 60 });
    await t.stop();
  }, 120_000);
});
