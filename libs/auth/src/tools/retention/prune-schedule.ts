import { Logger, type Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { AuthConfigError } from '../../foundation/platform/errors';
import { broughtBy, optionalPeer } from '../../foundation/platform/optional-peer';
import type { Pruning } from './pruning';

/** Name of the job in the host's `SchedulerRegistry`. */
const JOB = 'svc:prune';

interface Registry {
  addCronJob(name: string, job: { start(): void }): void;
}

interface Cron {
  CronJob: new (time: string, onTick: () => void) => { start(): void };
}

/**
 * Registers a cron job for pruning in the host's scheduler, if the host imports `ScheduleModule`. Every node runs it;
 * concurrent runs are safe. @throws AuthConfigError for an invalid cron expression
 */
export function schedulePruning(moduleRef: ModuleRef, schedule: string | false, pruning: Pruning): void {
  const registry = schedule && registryOf(moduleRef);
  const cron = registry && broughtBy<Cron>('@nestjs/schedule', 'cron');
  if (!registry || !cron) return;
  registry.addCronJob(JOB, started(cron, schedule, pruning));
}

function started({ CronJob }: Cron, schedule: string, pruning: Pruning) {
  try {
    const job = new CronJob(schedule, () => void pruning.run().catch(report));
    job.start();
    return job;
  } catch (error) {
    throw new AuthConfigError(
      `retention.schedule (SVC_PRUNE_SCHEDULE) is "${schedule}", which is no cron expression: ${(error as Error).message}. ` +
        'Use one such as "23 3 * * *", or false.',
    );
  }
}

const report = (error: Error): void => new Logger('Auth').error(`the sweep failed: ${error.message}`, error.stack);

function registryOf(moduleRef: ModuleRef): Registry | undefined {
  const token = optionalPeer<{ SchedulerRegistry: Type<Registry> }>('@nestjs/schedule')?.SchedulerRegistry;
  try {
    return token && moduleRef.get(token, { strict: false });
  } catch {
    // Installed but not imported: the operator runs svc:prune.
    return undefined;
  }
}
