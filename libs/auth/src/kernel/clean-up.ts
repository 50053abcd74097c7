import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds. A store that did not answer is told within a second, of which waiting for it took most. */
const PATIENCE_MS = 150;

/**
 * Waits a little for what puts things in order after a failure. Where it takes longer it goes on behind the answer;
 * where it fails, it is logged.
 *
 * @param what completes "… failed" in the log
 */
export async function cleanUp(what: string, work: Promise<unknown>): Promise<void> {
  const done = work.catch((error: unknown) => new Logger('Auth').error(`${what} failed: ${(error as Error)?.message}`));
  await Promise.race([done, sleep(PATIENCE_MS, undefined, { ref: false })]);
}
