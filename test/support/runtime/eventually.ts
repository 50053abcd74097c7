import { setTimeout as sleep } from 'node:timers/promises';
import { rounds } from './rounds';

/** Waits for a condition. The default limit suits a slow machine and grows with `TEST_ROUNDS`. */
export async function eventually(holds: () => Promise<boolean>, seconds = rounds(240)): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`the condition did not hold within ${seconds} seconds`);
    await sleep(20);
  }
}
