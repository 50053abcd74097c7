import { setTimeout as sleep } from 'node:timers/promises';

/** A third of the time is worked: nobody waits for a sweep. */
const REST = 2;

/**
 * Runs `batch` until it resolves to false. Rests after each one for twice as long as it took, so that a sweep
 * of any size leaves room for the requests beside it.
 */
export async function inBatches(batch: () => Promise<boolean>): Promise<void> {
  for (;;) {
    const start = performance.now();
    if (!(await batch())) return;
    await sleep(REST * (performance.now() - start));
  }
}

/** Runs jobs one after the other, in the order in which they come. */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();

  run<T>(job: () => Promise<T>): Promise<T> {
    const turn = this.last.then(job);
    this.last = turn.catch(() => undefined);
    return turn;
  }
}

/** Computes a value at its first use and keeps it. */
export function once<T>(compute: () => T): () => T {
  let kept: { value: T } | undefined;
  return () => (kept ??= { value: compute() }).value;
}
