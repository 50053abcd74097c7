import { rmSync } from 'node:fs';
import { processorTime } from '../support/runtime/processor-time';

/** Stops the stores, and prints what the run cost: the tests, their processes, and the stores. */
export default async function globalTeardown(): Promise<void> {
  await globalThis.stores.redis?.stop();
  await globalThis.stores.postgres?.stop();
  if (globalThis.stores.directory) rmSync(globalThis.stores.directory, { recursive: true, force: true });
  const clock = `${((performance.now() - globalThis.startedAt) / 1000).toFixed(0)} s by the clock`;
  const time = processorTime();
  const processor =
    time &&
    `${(time.user + time.system).toFixed(0)} s of processor time (user ${time.user.toFixed(0)}, system ${time.system.toFixed(0)})`;
  console.log([processor, clock].filter(Boolean).join(', '));
}
