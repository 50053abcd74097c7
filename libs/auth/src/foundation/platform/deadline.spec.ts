import { REQUEST_TIMEOUTS, RequestDeadline, RequestScope, withTimeout } from './deadline';
import { StoreUnavailable } from './errors';

describe('the waits of a request for its stores', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const MS = 800;

  /** A wait whose answer comes after this time. */
  const answered = (after: number): Promise<string> =>
    withTimeout('Redis', MS, new Promise((resolve) => setTimeout(resolve, after, 'answer')));

  const outcomes = async (...waits: number[]): Promise<string[]> => {
    const results: string[] = [];
    const done = RequestScope.of({}).run(async () => {
      for (const after of waits) {
        const begin = performance.now();
        const result = await answered(after).catch((error: unknown) =>
          error instanceof StoreUnavailable ? '503' : 'error',
        );
        // Expired timers run in a turn of their own.
        results.push(`${result} after ${Math.floor((performance.now() - begin) / 10) * 10}`);
      }
    });
    await jest.advanceTimersByTimeAsync(waits.length * MS * REQUEST_TIMEOUTS);
    await done;
    return results;
  };

  it('each have the whole limit, so that a request can wait several times', async () => {
    expect(await outcomes(700, 700, 700)).toEqual(Array(3).fill('answer after 700'));
  });

  it('together take four times the limit at most', async () => {
    expect(await outcomes(700, 700, 700, 700, 700)).toEqual([...Array(4).fill('answer after 700'), '503 after 400']);
  });

  it('end after one wait without an answer: a later one has the time of a store that is near', async () => {
    expect(await outcomes(5000, 40, 60)).toEqual(['503 after 800', 'answer after 40', '503 after 50']);
  });

  it('count once while they run beside each other', () => {
    const deadline = new RequestDeadline();
    for (let i = 0; i < 9; i++) deadline.begin(MS);
    jest.advanceTimersByTime(700);
    for (let i = 0; i < 9; i++) deadline.end();
    expect(deadline.left(3 * MS)).toBe(3 * MS);
    expect(deadline.left(200)).toBe(100);
  });
});
