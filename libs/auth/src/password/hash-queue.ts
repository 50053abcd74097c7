import { Logger } from '@nestjs/common';
import type { AuthConfig } from '../config/auth-config';
import { mostAtOnce, poolSize } from './thread-pool.policy';
import { WorkQueue } from './work-queue';

/**
 * The queue of everything that is slow on purpose, one for the process: its concurrency times `hashing.memoryCost` is
 * the memory that hashing takes, whatever arrives.
 */
export function hashQueue({ concurrency, maxQueue, maxWaitMs }: AuthConfig['hashing']): WorkQueue {
  const threads = poolSize(process.env.UV_THREADPOOL_SIZE);
  const most = mostAtOnce(concurrency, threads);
  if (most < concurrency) {
    new Logger('Auth').warn(
      `hashing.concurrency is ${concurrency}, but libuv has ${threads} threads, and files and name look-ups need one: ` +
        `${most} hashes run at once. Start the process with UV_THREADPOOL_SIZE=${concurrency + 1}.`,
    );
  }
  return new WorkQueue(most, maxQueue, maxWaitMs);
}
