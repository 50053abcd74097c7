import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig, refuseVerifyOnly } from '../../foundation/config/auth-config';
import { wholeNumber } from '../../foundation/config/merge';
import { MOST_DAYS } from '../../foundation/config/option-table';
import { type Feature, MANIFESTS } from '../../foundation/realm/feature';
import { type Pruned, pruneStages } from '../../foundation/realm/feature-data';
import { Realms } from '../../foundation/realm/realm';
import { Database } from '../../foundation/platform/database';
import { Session } from '../../features/sessions/session.entity';
import { whileLocked } from './pruning-lock';

/**
 * Stages of a sweep failed, after the others have run. `errors` has an error for each of them, named in its message.
 *
 * @publicApi
 */
export class PruningFailed extends AggregateError {
  override readonly name = 'PruningFailed';

  /** @param pruned the numbers of the stages that passed for every guard */
  constructor(
    errors: readonly Error[],
    readonly pruned: Readonly<Partial<Pruned>>,
  ) {
    super(errors, errors.map(({ message }) => message).join('; '));
  }
}

/**
 * Deletes the rows of all features that are of no more use, also of features that are off. Deletes in small batches, so that it
 * can run beside requests with any number of rows.
 *
 * @publicApi
 */
@Injectable()
export class Pruning {
  constructor(
    private readonly realms: Realms,
    private readonly database: Database,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
    @Inject(MANIFESTS) private readonly features: readonly Feature[],
  ) {}

  /**
   * Runs one sweep over all guards, unless another process is running one for the same tables and guards. The schedule
   * and `svc:prune` call it. @returns null if another process has the lock, an advisory lock of PostgreSQL
   *
   * @param lockoutDays as for {@link run}
   * @throws StoreUnavailable if the lock cannot be asked for; PruningFailed, AuthConfigError as {@link run} does
   */
  async runUnlessActive(lockoutDays?: number): Promise<Pruned | null> {
    refuseVerifyOnly(this.config);
    const guards = this.realms.all.map(({ realm }) => realm.guard).toSorted();
    const name = ['svc:prune', this.database.table(Session), ...guards].join(' ');
    return whileLocked(this.database.source, name, () => this.run(lockoutDays));
  }

  /**
   * Runs one sweep over all guards, without a lock. Concurrent runs are safe: they share the rows.
   *
   * If a stage fails, the other stages still run.
   *
   * @param lockoutDays replaces `retention.lockoutDays`; at least 1
   * @throws PruningFailed after the other stages have run; AuthConfigError with `verifyOnly`
   */
  async run(lockoutDays = this.config.retention.lockoutDays): Promise<Pruned> {
    refuseVerifyOnly(this.config);
    const stages = pruneStages(this.features);
    const days = wholeNumber(lockoutDays, this.config.retention.lockoutDays, 1, MOST_DAYS);
    const pruned = Object.fromEntries(stages.map(([name]) => [name, 0])) as unknown as Pruned;
    const errors: Error[] = [];
    const failed = new Set<keyof Pruned>();
    for (const [name, { ofAllGuards, run }] of stages)
      for (const realm of ofAllGuards ? [this.realms.default] : this.realms.all)
        try {
          pruned[name] += await run(realm, days);
        } catch (error) {
          failed.add(name);
          errors.push(new Error(`${name}: ${(error as Error).message}`, { cause: error }));
        }
    for (const name of failed) delete (pruned as Partial<Pruned>)[name];
    if (errors.length) throw new PruningFailed(errors, pruned);
    return pruned;
  }
}
