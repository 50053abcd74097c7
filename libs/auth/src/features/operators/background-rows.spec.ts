import { deadline } from '../../kit';
import { BackgroundRows } from './background-rows';

describe('rows that are written in the background', () => {
  let batches: number[][];
  let refused: number | null;
  const work = new deadline.BackgroundWork();
  const rows = () =>
    new BackgroundRows<number>('numbers', work, async (batch) => {
      if (refused !== null && batch.includes(refused)) throw new Error('it cannot be stored');
      batches.push([...batch]);
    });
  beforeEach(() => ([batches, refused] = [[], null]));
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

  it('are written in their order, at most 500 by one statement', async () => {
    const queue = rows();
    for (const n of numbers(1200)) queue.add(n);
    await queue.written();
    expect(batches.map(({ length }) => length)).toEqual([500, 500, 200]);
    expect(batches.flat()).toEqual(numbers(1200));
  });

  it('lose one that cannot be written, and no other one of its statement', async () => {
    const queue = rows();
    refused = 137;
    for (const n of numbers(500)) queue.add(n);
    await queue.written();
    expect(batches.flat()).toEqual(numbers(500).filter((n) => n !== 137));
  });

  it('lose those beyond 10,000 that wait, and not those before', async () => {
    const queue = rows();
    for (const n of numbers(10_050)) queue.add(n);
    await queue.written();
    expect(batches.flat()).toEqual(numbers(10_000));
    queue.add(7);
    await queue.written();
    expect(batches.at(-1)).toEqual([7]);
  });

  it('are one for each key while they wait', async () => {
    const queue = rows();
    for (const n of numbers(9)) queue.add(n, n % 3);
    await queue.written();
    expect(batches).toEqual([[6, 7, 8]]);
  });
});
