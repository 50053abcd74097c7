import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type Type,
} from '@nestjs/common';
import { HttpAdapterHost, ModuleRef } from '@nestjs/core';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { CORE } from '../../foundation/config/core-options';
import { optionsFromEnv } from '../../foundation/config/env';
import { optionsOf } from '../../foundation/config/option-table';
import { AuthConfigError } from '../../foundation/platform/errors';
import { broughtBy, optionalPeer } from '../../foundation/platform/optional-peer';
import { Pruning, PruningFailed } from './pruning';

/** Name of the job in the host's `SchedulerRegistry`. */
const JOB = 'svc:prune';

interface Registry {
  addCronJob(name: string, job: { start(): void }): void;
}

interface Cron {
  CronJob: new (time: string, onTick: () => void) => { start(): void };
}

/**
 * Prunes at the times of `retention.schedule`: by a job in the host's scheduler, if the host imports `ScheduleModule`,
 * otherwise by a timer. An application without an HTTP server, such as a console, schedules nothing. All nodes have
 * the schedule; the lock of {@link Pruning.runUnlessActive} admits one of them at a time.
 */
@Injectable()
export class PruneSchedule implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Auth');
  private timer?: { stop(): void };
  private isClosing = false;

  constructor(
    private readonly moduleRef: ModuleRef,
    private readonly adapterHost: HttpAdapterHost,
    private readonly pruning: Pruning,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /** @throws AuthConfigError for an invalid cron expression */
  onApplicationBootstrap(): void {
    const { schedule } = this.config.retention;
    if (!schedule && this.config.verifyOnly) this.reportIgnored();
    if (!schedule || !this.adapterHost.httpAdapter) return;
    const registry = registryOf(this.moduleRef);
    const cron = registry && broughtBy<Cron>('@nestjs/schedule', 'cron');
    const run = (): void => void this.run();
    if (!registry || !cron) {
      this.timer = valid(schedule, () => timerOf(schedule, run));
      return;
    }
    const job = valid(schedule, () => new cron.CronJob(schedule, run));
    registry.addCronJob(JOB, job);
    job.start();
  }

  /** A run that has begun ends with its next statement, because the data source closes. */
  onModuleDestroy(): void {
    this.isClosing = true;
    this.timer?.stop();
  }

  private reportIgnored(): void {
    const { SVC_PRUNE_SCHEDULE } = process.env;
    if (!optionsFromEnv(optionsOf([CORE]), { SVC_PRUNE_SCHEDULE }).retention?.schedule) return;
    this.logger.log(
      'SVC_PRUNE_SCHEDULE is ignored, because verifyOnly is true: the service may share the environment of an issuer, and ' +
        'prunes no rows.',
    );
  }

  private async run(): Promise<void> {
    try {
      const pruned = await this.pruning.runUnlessActive();
      this.logger.debug(pruned ? `pruned ${JSON.stringify(pruned)}` : 'another process is pruning');
    } catch (error) {
      const { message, stack } = error as Error;
      if (error instanceof PruningFailed) this.logger.debug(`pruned ${JSON.stringify(error.pruned)}`);
      if (this.isClosing) this.logger.debug(`the sweep ended at the shutdown: ${message}`);
      else this.logger.error(`the sweep failed: ${message}`, stack);
    }
  }
}

/** @throws AuthConfigError for a text that is no cron expression. A scheduler of the host has its own parser, for the same syntax. */
export const refuseSchedule = (schedule: string): void =>
  valid(schedule, () => timerOf(schedule, () => undefined).stop());

function valid<T>(schedule: string, create: () => T): T {
  try {
    return create();
  } catch (error) {
    throw new AuthConfigError(
      `retention.schedule (SVC_PRUNE_SCHEDULE) is "${schedule}", which is no cron expression: ${(error as Error).message}. ` +
        'Use one such as "23 3 * * *", or false.',
    );
  }
}

/** Starts a timer that does not keep the process alive. @throws Error for an invalid expression */
function timerOf(schedule: string, run: () => void): { stop(): void } {
  // Loaded here, because a service that only verifies tokens has no schedule.
  const { Cron } = require('croner') as typeof import('croner');
  const timer = new Cron(schedule, { unref: true }, run);
  if (timer.nextRun() === null) throw new Error('it has no future time');
  return timer;
}

function registryOf(moduleRef: ModuleRef): Registry | undefined {
  const token = optionalPeer<{ SchedulerRegistry: Type<Registry> }>('@nestjs/schedule')?.SchedulerRegistry;
  try {
    return token && moduleRef.get(token, { strict: false });
  } catch {
    // Installed but not imported.
    return undefined;
  }
}
