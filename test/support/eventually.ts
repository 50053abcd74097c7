import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for a condition, for as long as a slow machine may need. */
export async function eventually(holds: () => Promise<boolean>, seconds = 20): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`the condition did not hold within ${seconds} seconds`);
    await sleep(20);
  }
}
