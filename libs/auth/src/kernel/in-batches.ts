import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs `batch` until it resolves to false. Rests after each one for as long as it took, so that a sweep of
 * any size leaves room for the requests beside it.
 */
export async function inBatches(batch: () => Promise<boolean>): Promise<void> {
  for (;;) {
    const start = performance.now();
    if (!(await batch())) return;
    await sleep(performance.now() - start);
  }
}
