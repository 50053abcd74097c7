import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until something holds that happens behind an answer. */
export async function eventually(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error('it never came to hold');
    await sleep(20);
  }
}
