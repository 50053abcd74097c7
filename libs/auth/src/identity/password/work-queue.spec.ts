import * as fc from 'fast-check';
import { setImmediate as tick } from 'node:timers/promises';
import { HasherBusy, HashQueue } from './hash-queue';
import { RequestScope } from '../../foundation/platform/deadline';

/** A job that the test ends. */
function job<T = void>() {
  let end!: (value: T) => void;
  let fail!: (error: Error) => void;
  const done = new Promise<T>((resolve, reject) => ([end, fail] = [resolve, reject]));
  return { run: jest.fn(() => done), end, fail };
}

const started = (jobs: { run: jest.Mock }[]): number[] =>
  jobs.flatMap(({ run }, i) => (run.mock.calls.length ? [i] : []));

describe('a work queue', () => {
  it('returns the result or the error of the job', async () => {
    const queue = new HashQueue(1, 0);
    await expect(queue.run(async () => 'hash')).resolves.toBe('hash');
    await expect(queue.run(async () => Promise.reject(new Error('bad salt')))).rejects.toThrow('bad salt');
  });

  it('runs the configured number of jobs at once, and the others in their order of arrival', async () => {
    const queue = new HashQueue(2, 10);
    const jobs = Array.from({ length: 5 }, () => job());
    const all = jobs.map(({ run }) => queue.run(run));
    await tick();
    expect(started(jobs)).toEqual([0, 1]);
    jobs[1]!.end();
    await tick();
    expect(started(jobs)).toEqual([0, 1, 2]);
    jobs[0]!.end();
    jobs[2]!.end();
    await tick();
    expect(started(jobs)).toEqual([0, 1, 2, 3, 4]);
    jobs[3]!.end();
    jobs[4]!.end();
    await Promise.all(all);
  });

  it('runs a waiting job before a job that arrives later', async () => {
    const queue = new HashQueue(1, 1);
    const order: string[] = [];
    const first = queue.run(async () => void order.push('first'));
    const waiting = queue.run(async () => void order.push('waiting'));
    const later = first.then(() => queue.run(async () => void order.push('later')));
    await Promise.all([first, waiting, later]);
    expect(order).toEqual(['first', 'waiting', 'later']);
  });

  it.each([0, 1, 3])(
    'with %d waiting places refuses a further job immediately, with 503 and Retry-After',
    async (maxQueue) => {
      const queue = new HashQueue(1, maxQueue);
      const running = job();
      const others = [
        queue.run(running.run),
        ...Array.from({ length: maxQueue }, () => queue.run(async () => undefined)),
      ];
      const refused = jest.fn();
      const busy: HasherBusy = await queue.run(refused).then(
        () => fail('was admitted'),
        (error) => error,
      );
      expect(busy).toBeInstanceOf(HasherBusy);
      expect([busy.getStatus(), busy.code, busy.headers]).toEqual([503, 'hasher_busy', { 'Retry-After': '2' }]);
      expect(busy.getResponse()).toEqual({ message: 'The service is busy. Please try again in 2 seconds.' });
      expect(refused).not.toHaveBeenCalled();
      running.end();
      await Promise.all(others);
      await expect(queue.run(async () => 'later')).resolves.toBe('later');
    },
  );

  it.each<[string, () => Promise<never>]>([
    ['rejects', async () => Promise.reject(new Error('broken'))],
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
  ])('frees the place of a job that %s', async (_, broken) => {
    const queue = new HashQueue(1, 1);
    for (let i = 0; i < 3; i++) {
      const [first, second] = [queue.run(broken), queue.run(async () => 'next')];
      await expect(first).rejects.toThrow('broken');
      await expect(second).resolves.toBe('next');
    }
  });

  it('never exceeds its concurrency and never loses a job, for any schedule', async () => {
    const jobs = fc.array(fc.record({ arrives: fc.nat(4), lasts: fc.nat(4), breaks: fc.boolean() }), { maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.nat(6), jobs, async (concurrency, maxQueue, plan) => {
        const queue = new HashQueue(concurrency, maxQueue);
        const begun: number[] = [];
        const queued: number[] = [];
        let [running, most, present] = [0, 0, 0];
        const runJob = async ({ arrives, lasts, breaks }: (typeof plan)[number], i: number) => {
          for (let t = 0; t < arrives; t++) await tick();
          const full = present >= concurrency + maxQueue;
          if (!full) queued.push(i);
          present++;
          const outcome = await queue
            .run(async () => {
              begun.push(i);
              most = Math.max(most, ++running);
              for (let t = 0; t < lasts; t++) await tick();
              running--;
              if (breaks) throw new Error('broken');
              return 'done';
            })
            .catch((error: Error) => (error instanceof HasherBusy ? 'busy' : error.message))
            .finally(() => present--);
          return outcome === 'busy' ? full : outcome === (breaks ? 'broken' : 'done') && !full;
        };
        const correct = await Promise.all(plan.map(runJob));
        expect(most).toBeLessThanOrEqual(concurrency);
        expect(begun).toEqual(queued);
        expect(correct.every(Boolean)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  describe('with jobs of several clients', () => {
    const from = <T>(client: string, work: () => Promise<T>): Promise<T> => {
      const scope = RequestScope.of({});
      scope.fairShareKeys = () => [client];
      return scope.run(work);
    };
    const order: string[] = [];
    const ask = (queue: HashQueue, client: string): Promise<void> =>
      from(client, () => queue.run(async () => void order.push(client))).catch((error: Error) => {
        order.push(`${client}: ${error.name}`);
      });
    beforeEach(() => order.splice(0));

    it('runs the job of the client with the fewest recent hashes first, even before older jobs', async () => {
      const queue = new HashQueue(1, 100);
      await Promise.all([...'aaaaaabbb'].map((client) => ask(queue, client)));
      expect(order.join('')).toBe('abababaaa');
      order.splice(0);
      await Promise.all([...'aaac'].map((client) => ask(queue, client)));
      expect(order.join('')).toBe('acaa');
    });

    it('displaces a job of a flooding client for a new client when it is full', async () => {
      const queue = new HashQueue(1, 3);
      await ask(queue, 'flood');
      order.splice(0);
      await Promise.all(['flood', 'flood', 'flood', 'flood', 'flood', 'ada'].map((client) => ask(queue, client)));
      expect(order.toSorted()).toEqual(['ada', 'flood', 'flood', 'flood', 'flood: HasherBusy', 'flood: HasherBusy']);
      expect(order.indexOf('ada')).toBeLessThan(order.lastIndexOf('flood'));
    });

    it('refuses the last job when all clients have equal use', async () => {
      const queue = new HashQueue(1, 2);
      await Promise.all([...'abcd'].map((client) => ask(queue, client)));
      expect(order.toSorted()).toEqual(['a', 'b', 'c', 'd: HasherBusy']);
    });
  });

  it.each([0, 1, 3])('with %d waiting places admits a job exactly if run accepts it', async (maxQueue) => {
    const queue = new HashQueue(1, maxQueue);
    expect(() => queue.admit()).not.toThrow();
    const first = job();
    const all = [queue.run(first.run)];
    for (let i = 0; i < maxQueue; i++) {
      expect(() => queue.admit()).not.toThrow();
      all.push(queue.run(async () => undefined));
    }
    expect(() => queue.admit()).toThrow(HasherBusy);
    first.end();
    await Promise.all(all);
    expect(() => queue.admit()).not.toThrow();
  });

  it('refuses a job that has waited too long, and runs the next ones', async () => {
    jest.useFakeTimers();
    const [set, clear] = [jest.spyOn(globalThis, 'setTimeout'), jest.spyOn(globalThis, 'clearTimeout')];
    // No other timer of the process has this length.
    const WAIT_MS = 2501;
    const queue = new HashQueue(1, 10, WAIT_MS);
    const first = job();
    const running = queue.run(first.run);
    const late = queue.run(async () => 'late');
    const refused = late.catch((error: unknown) => error);
    jest.advanceTimersByTime(WAIT_MS);
    expect(await refused).toBeInstanceOf(HasherBusy);
    const next = queue.run(async () => 'next');
    first.end();
    await running;
    await expect(next).resolves.toBe('next');
    const timers = set.mock.results.filter((_, i) => set.mock.calls[i]![1] === WAIT_MS).map(({ value }) => value);
    expect(timers).toHaveLength(2);
    expect(clear.mock.calls.flat()).toEqual(expect.arrayContaining(timers));
    jest.useRealTimers();
  });
});
