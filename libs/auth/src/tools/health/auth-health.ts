import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { type AuthConfig, needsDatabase } from '../../foundation/config/auth-config';
import type { Clock } from '../../foundation/platform/clock';
import { Database } from '../../foundation/platform/database';
import { isMissing } from '../../foundation/platform/pg-errors';
import { RequestScope, isInconclusive, withTimeout } from '../../foundation/platform/deadline';
import { StoreUnavailable, redisRefusal } from '../../foundation/platform/errors';
import { Realms } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { type Completeness, Denylist } from '../../identity/denylist/denylist';
import { Session } from '../../features/sessions/session.entity';
import { Keyring, signJws, verifyJws } from '../../identity/tokens/keyring';
import type { GuardServices, StoredEntity } from '../../foundation/realm/feature-data';
import { libraryColumns, missingColumns } from '../migrations/missing-schema';

declare module '../../foundation/realm/feature' {
  interface HookPoints {
    /** Whether a login since the start of this process found a confirmed second factor that cannot be checked. Sends no query. */
    readonly hasUnusableFactor?: (services: GuardServices) => boolean;
    /** Whether something was given up that other systems should have got. */
    readonly hasUndelivered?: (services: GuardServices) => Promise<boolean>;
  }
}

/** `typ` of the signed probe. No token has this type, so the probe cannot be used as a token. */
const TYPE = 'health+probe';

/**
 * Whether a key ring verifies what it signs. The configured keys of a ring that only verifies were checked at start. A
 * remote key set is read by this check, because a service that gets no requests before it is healthy would never read it.
 *
 * @throws StoreUnavailable if the remote key set was never read and cannot be read
 */
export async function provesItself(keyring: Keyring): Promise<boolean> {
  if (keyring.canSign) return verifyJws(keyring, signJws(keyring, TYPE, {})) !== null;
  return keyring.remote ? keyring.remote.hasAny() : true;
}

/** Time limit of a check, in milliseconds. */
const TIMEOUT_MS = 1000;

/** Seconds after which a probe expires that an interrupted check did not remove. */
const PROBE_TTL = 10;

/** Milliseconds for which a check that is up is not repeated, however many requests arrive. */
const REPEAT_AFTER_MS = 1000;

/**
 * Why a check is down: a store did not answer within a second (`unreachable`), something answered with an error or a wrong
 * result (`failed`), or it waits for something else (`pending`): `auth_migrations` and `auth_postgres` for a migration,
 * `auth_store` of a service that only verifies for an issuing node.
 */
export type HealthFault = 'unreachable' | 'failed' | 'pending';

/** The step of a check of PostgreSQL or the security store at which it failed. */
export type HealthStep = 'read' | 'write' | 'script' | 'transaction' | 'commit';

/**
 * What a check reports although it is up: a confirmed second factor is `unusable`, the denylist in a sharded store is
 * `incomplete` for some sessions, which a service that only verifies refuses, or events for other systems are `undelivered`.
 */
export type HealthWarning = 'unusable' | 'incomplete' | 'undelivered';

/** The result of one check. */
interface Verdict {
  status: 'up' | 'down';
  reason?: HealthFault;
  step?: HealthStep;
  /** The code with which Redis (`READONLY`) or PostgreSQL (`25006`) refused the step. */
  code?: string;
  warning?: HealthWarning;
}

/**
 * The result of an indicator of `@nestjs/terminus`. It contains no other details, because health routes are often public.
 *
 * @publicApi
 */
export type HealthResult<Key extends string = string> = Record<Key, Verdict>;

/** A fault that is not the error of a store. The message is for the log. */
class Fault extends Error {
  constructor(
    readonly reason: HealthFault,
    message: string,
  ) {
    super(message);
  }
}

/** Performs the steps of a check, and names each step before it begins. Resolves to a warning, if there is one. */
type Check = (begin: (step: HealthStep) => void) => Promise<HealthWarning | void>;

/**
 * Checks the dependencies of the library, for the host's health route: it performs the operations that a login needs. Each
 * check ends within a second. It resolves to a result for every fault and never rejects. Calls during a check share its
 * result, and so do calls within a second after a check that was up. A check that was down is repeated at once.
 *
 * @example
 * constructor(private readonly health: HealthCheckService, private readonly auth: AuthHealth) {}
 * \@Get() \@HealthCheck()
 * check() { return this.health.check(this.auth.indicators()); }
 * @publicApi
 */
export class AuthHealth {
  private readonly logger = new Logger('Auth');
  private readonly checks = new Map<string, { verdict: Promise<Verdict>; until: number }>();
  private readonly logged = new Map<string, string>();
  private readonly completeness = { of: Promise.resolve<Completeness>('all'), until: -Infinity };

  constructor(
    private readonly database: Database,
    private readonly store: SecurityStore,
    private readonly realms: Realms,
    private readonly config: AuthConfig,
    private readonly tables: readonly StoredEntity[],
    private readonly clock: Clock,
  ) {}

  /**
   * The checks that this deployment needs. One that only verifies tokens has no tables to check, and no database if it has
   * no `users.entity`.
   */
  indicators(): (() => Promise<HealthResult>)[] {
    const postgres = needsDatabase(this.config) ? [() => this.postgres()] : [];
    const always = [() => this.securityStore(), () => this.keys()];
    if (this.config.verifyOnly) return [...postgres, ...always];
    const secondFactors = this.factorChecks.length > 0 ? [() => this.secondFactors()] : [];
    const deliveries = this.deliveryChecks.length > 0 ? [() => this.deliveries()] : [];
    return [...postgres, () => this.migrations(), ...always, ...secondFactors, ...deliveries];
  }

  /**
   * Whether PostgreSQL answers a prepared statement, and commits a transaction that inserts and deletes a session. So a
   * standby, a pooler that has no transactions, a full disk and missing rights are down. Nothing is written with
   * `verifyOnly`: such a service may have no right to write.
   */
  postgres<Key extends string = 'auth_postgres'>(key = 'auth_postgres' as Key): Promise<HealthResult<Key>> {
    return this.judged('postgres', key, async (begin) => {
      begin('read');
      await this.database.query('SELECT 1');
      if (!this.config.verifyOnly) await this.write(begin);
    });
  }

  /**
   * Whether the security store reads the two keys of an access token at once, writes a value and returns it, and counts an
   * attempt under two limits by its scripts. The probes have random keys, which the check removes. In a service that only
   * verifies, also whether the store holds all denials: otherwise the service refuses every token. If a sharded store holds
   * those of some sessions only, the check is up with the warning `incomplete`.
   */
  securityStore<Key extends string = 'auth_store'>(key = 'auth_store' as Key): Promise<HealthResult<Key>> {
    return this.judged('store', key, async (begin) => {
      const probe = `svc:health:${randomUUID()}`;
      begin('read');
      const warning = await this.readDenials();
      begin('write');
      await this.store.add(probe, 'up', PROBE_TTL);
      if ((await this.store.take(probe)) !== 'up')
        throw new Fault('failed', 'The store did not return what it stored.');
      begin('script');
      const limits = ['a', 'b'].map((name) => ({ key: `${probe}:${name}`, max: 1, seconds: PROBE_TTL }));
      const { admitted } = await this.store.count(limits, true);
      await this.store.settle(limits, 'undone');
      if (!admitted) throw new Fault('failed', 'The store refused the first attempt under a limit.');
      return warning;
    });
  }

  /** Whether the keys of every guard verify what they sign. A guard that only verifies needs at least one key. */
  keys<Key extends string = 'auth_keys'>(key = 'auth_keys' as Key): Promise<HealthResult<Key>> {
    return this.judged('keys', key, async () => {
      const proved = await Promise.all(this.realms.all.map((scope) => provesItself(scope.get(Keyring))));
      const guards = this.realms.all.filter((_, i) => !proved[i]).map(({ realm }) => realm.guard);
      if (guards.length) throw new Fault('failed', `Guards whose keys do not verify: ${guards.join(', ')}.`);
    });
  }

  /** Whether the tables of the library have every column of its entities. `pending`: run the migrations. */
  migrations<Key extends string = 'auth_migrations'>(key = 'auth_migrations' as Key): Promise<HealthResult<Key>> {
    return this.judged('migrations', key, async () => {
      const missing = await missingColumns(this.database, libraryColumns(this.database, this.tables));
      const names = missing.map(({ table, column, isTable }) => (isTable ? table : `${table}.${column}`));
      if (missing.length) throw new Fault('pending', `Missing: ${[...new Set(names)].join(', ')}.`);
    });
  }

  /**
   * Always up, because the row of one user must not take a node out of service. With the warning `unusable`, a login since
   * the start of this process found a confirmed second factor whose codes cannot be checked: see `TwoFactorUnusable`. The
   * warning ends when the factor is replaced by this process, or is usable at a later login. Sends no query.
   */
  async secondFactors<Key extends string = 'auth_second_factors'>(
    key = 'auth_second_factors' as Key,
  ): Promise<HealthResult<Key>> {
    const hasUnusable = this.factorChecks.some((check) => check());
    return { [key]: { status: 'up', ...(hasUnusable && { warning: 'unusable' }) } } as HealthResult<Key>;
  }

  /** Up with the warning `undelivered` while the table has events for other systems that were given up: no node is the cause. */
  deliveries<Key extends string = 'auth_deliveries'>(key = 'auth_deliveries' as Key): Promise<HealthResult<Key>> {
    return this.judged('deliveries', key, async () => {
      const undelivered = await Promise.all(this.deliveryChecks.map((check) => check()));
      return undelivered.includes(true) ? 'undelivered' : undefined;
    });
  }

  private get deliveryChecks(): (() => Promise<boolean>)[] {
    return this.realms.all.flatMap((scope) => scope.hooks('hasUndelivered').map((check) => () => check(scope)));
  }

  private get factorChecks(): (() => boolean)[] {
    return this.realms.all.flatMap((scope) => scope.hooks('hasUnusableFactor').map((check) => () => check(scope)));
  }

  /**
   * Commits a transaction that leaves nothing: the row is deleted before another transaction can see it. Its id is random,
   * so it waits for no other row, and no other row waits for it.
   */
  private async write(begin: (step: HealthStep) => void): Promise<void> {
    const [id, sessions] = [randomUUID(), this.database.table(Session)];
    begin('transaction');
    await this.database.transaction(async (sql) => {
      begin('write');
      await sql(
        `INSERT INTO ${sessions} (id, guard, user_id, salt, auth_time, expires_at, revoked_at, last_used_at, created_at)
         SELECT $1, $2, '', '', now, now, now, now, now FROM (SELECT clock_timestamp() AS now) moment`,
        [id, this.realms.default.realm.guard],
      );
      await sql(`DELETE FROM ${sessions} WHERE id = $1`, [id]);
      begin('commit');
    });
  }

  /** Reads the keys of an access token as a guarded request does. */
  private async readDenials(): Promise<HealthWarning | undefined> {
    const scope = this.realms.all.find(({ realm }) => realm.options.features.denylist);
    const denylist = scope?.get(Denylist);
    await denylist?.read({ jti: randomUUID(), fid: randomUUID() });
    // Without the table of sessions, a token is accepted only if the store certainly holds all denials.
    const reliesOnStore = this.config.verifyOnly && !this.database.hasEntity(Session);
    if (!denylist || !reliesOnStore) return undefined;
    // A sharded store is read once for each group of sessions: also a check that is down must not be repeated at once.
    const known = this.completeness;
    if (known.until <= this.clock.monotonic()) {
      known.of = denylist.completeness();
      known.until = this.clock.monotonic() + REPEAT_AFTER_MS;
    }
    const completeness = await known.of;
    if (completeness === 'none')
      throw new Fault('pending', 'No issuing node has marked the denylist in the store as complete.');
    return completeness === 'some' ? 'incomplete' : undefined;
  }

  private async judged<Key extends string>(name: string, key: Key, check: Check): Promise<HealthResult<Key>> {
    let shared = this.checks.get(name);
    if (!shared || shared.until <= this.clock.monotonic()) {
      shared = { verdict: RequestScope.detached(() => this.judge(key, check)), until: Infinity };
      this.checks.set(name, shared);
      shared.until = await shared.verdict.then(
        ({ status }) => (status === 'up' ? this.clock.monotonic() + REPEAT_AFTER_MS : -Infinity),
        // The logger of the host failed.
        () => -Infinity,
      );
    }
    return { [key]: { ...(await shared.verdict) } } as HealthResult<Key>;
  }

  private async judge(key: string, check: Check): Promise<Verdict> {
    let step: HealthStep | undefined;
    try {
      const warning = await withTimeout(
        'The checked service',
        TIMEOUT_MS,
        check((next) => (step = next)),
      );
      this.logged.delete(key);
      return { status: 'up', ...(warning && { warning }) };
    } catch (error) {
      const reason = reasonOf(error);
      const code = reason === 'failed' && error instanceof StoreUnavailable ? error.refusal : undefined;
      const verdict: Verdict = { status: 'down', reason, ...(step && { step }), ...(code && { code }) };
      this.log(key, verdict, error);
      return verdict;
    }
  }

  /**
   * Logs a fault once, until the check is up again or the fault is another one. Only the log has the text of the error,
   * which may contain hosts and users.
   */
  private log(key: string, { reason, step }: Verdict, error: unknown): void {
    const { message, cause, stack } = Object(error) as Error & { cause?: Error };
    const place = step ? `${reason}, step ${step}` : reason;
    // The text of an error of Redis may contain keys.
    const text = redisRefusal(cause) === undefined ? cause?.message || message : message;
    const line = `The health check ${key} is down (${place}). ${text}`;
    if (this.logged.get(key) === line) return;
    this.logged.set(key, line);
    const isExpected = error instanceof Fault || isInconclusive(error) || isMissing(error);
    this.logger.error(line, isExpected ? undefined : stack);
  }
}

/** 25006 read-only; 08P01, 0A000 refused by a pooler; 53100, 53200, 53400 no disk, no memory, a limit. */
const SQL_REFUSAL = /^(25006|08P01|0A000|53[124]00)$/;

function reasonOf(error: unknown): HealthFault {
  if (error instanceof Fault) return error.reason;
  if (isMissing(error)) return 'pending';
  if (!isInconclusive(error)) return 'failed';
  const { cause } = error as Error;
  const isRefusal = redisRefusal(cause) !== undefined || SQL_REFUSAL.test((cause as { code?: string })?.code ?? '');
  return isRefusal ? 'failed' : 'unreachable';
}
