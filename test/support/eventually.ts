import { setTimeout as sleep } from 'node:timers/promises';
import { rounds } from './rounds';

/** Waits for a condition, for as long as a slow machine may need, or the work of many rounds. */
export async function eventually(holds: () => Promise<boolean>, seconds = rounds(20)): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`the condition did not hold within ${seconds} seconds`);
    await sleep(20);
  }
}
