import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig, refuseVerifyOnly } from '../../foundation/config/auth-config';
import { wholeNumber } from '../../foundation/config/merge';
import { MOST_DAYS } from '../../foundation/config/option-table';
import { type Feature, MANIFESTS } from '../../foundation/realm/feature';
import { type Pruned, pruneStages } from '../../foundation/realm/feature-data';
import { Realms } from '../../foundation/realm/realm';
import { Database } from '../../foundation/platform/database';
import { Session } from '../../features/sessions/session.entity';
import type { DataSource } from 'typeorm';
import { sha256 } from '../../foundation/platform/crypto';
import { withTimeout } from '../../foundation/platform/deadline';

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

/**
 * Takes a lock until the transaction ends, without waiting, and returns one row; none if another transaction has the lock.
 * Schemas with tables of the same names have separate locks. Without a parameter, because the portal of a statement with parameters stays open in the transaction and keeps its snapshot.
 */
const tryLock = (name: string): string =>
  `SELECT 1 WHERE pg_try_advisory_xact_lock(hashtextextended('${sha256(name)} ' || coalesce(current_schema(), ''), 0))`;

/**
 * READ COMMITTED, so that the waiting transaction has no snapshot, and vacuum is not held back. The timeout replaces a
 * shorter one of the host, which would release the lock during the run. It ends the lock of a node that has disappeared
 * without closing its connection, before the run of the next day.
 */
const BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; SET LOCAL idle_in_transaction_session_timeout = '12h'";

/** Timeout in milliseconds for a new connection and the lock. No client waits for it. */
const TIMEOUT_MS = 10_000;

interface LockClient {
  on(event: 'error', listener: () => void): void;
  connect(): Promise<unknown>;
  query(text: string): Promise<{ rows: unknown[] }>;
  end(): Promise<void>;
}

/** A pool of node-postgres. Its options also connect a single client. */
interface ClientPool {
  Client?: new (options: unknown) => LockClient;
  options: unknown;
}

/**
 * Runs `work` while this process has the lock; resolves to null, without a run, while another process has it.
 *
 * The lock belongs to a transaction on a connection of its own. A session lock would not work behind a pooler, where
 * consecutive statements of one session can run on different connections of the server. A connection of the pool would
 * be missing for requests, and a pool of one connection would have none left for `work`. PostgreSQL releases the lock
 * when the connection closes, also when the process is killed. If only this connection breaks, `work` continues.
 *
 * @throws StoreUnavailable
 */
export async function whileLocked<T>(source: DataSource, name: string, work: () => Promise<T>): Promise<T | null> {
  const { Client, options } = (source.driver as unknown as { master: ClientPool }).master;
  // A driver other than node-postgres, such as one for tests. Concurrent runs are safe.
  if (!Client) return work();
  const client = new Client(options);
  client.on('error', () => undefined);
  const take = async (): Promise<boolean> => {
    await client.connect();
    await client.query(BEGIN);
    return (await client.query(tryLock(name))).rows.length > 0;
  };
  const release = async (): Promise<void> => {
    // Behind a pooler, the connection of the server is reused.
    await client.query('COMMIT');
    await client.end();
  };
  try {
    return (await withTimeout('PostgreSQL', TIMEOUT_MS, take())) ? await work() : null;
  } finally {
    await withTimeout('PostgreSQL', TIMEOUT_MS, release()).catch(() => void client.end().catch(() => undefined));
  }
}
