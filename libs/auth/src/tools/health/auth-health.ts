import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { EntityTarget, ObjectLiteral } from 'typeorm';
import { type AuthConfig, needsDatabase } from '../../foundation/config/auth-config';
import { Database } from '../../foundation/platform/database';
import { withTimeout, isInconclusive } from '../../foundation/platform/deadline';
import { Realms } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { signJws, verifyJws } from '../../identity/tokens/jws';
import { Keyring } from '../../identity/tokens/keyring';
import { SecondFactors } from '../../features/two-factor/stored-factors';
import { libraryColumns, mayIssue, missingColumns } from '../migrations/missing-schema';

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

/** Why a check is down: `unreachable` within a second, `failed` with an unexpected result, or migrations are `pending`. */
export type HealthFault = 'unreachable' | 'failed' | 'pending';

/** What a check reports although it is up: a confirmed second factor is `unusable`. */
export type HealthWarning = 'unusable';

/**
 * The result of an indicator of `@nestjs/terminus`. It contains no details, because health routes are often public.
 *
 * @publicApi
 */
export type HealthResult<Key extends string = string> = Record<
  Key,
  { status: 'up' | 'down'; reason?: HealthFault; warning?: HealthWarning }
>;

/**
 * Checks the dependencies of the library, for the host's health route. Each check ends within a second. It resolves to
 * a result for every fault and never rejects.
 *
 * @example
 * constructor(private readonly health: HealthCheckService, private readonly auth: AuthHealth) {}
 * \@Get() \@HealthCheck()
 * check() { return this.health.check(this.auth.indicators()); }
 * @publicApi
 */
export class AuthHealth {
  private readonly logger = new Logger('Auth');

  constructor(
    private readonly database: Database,
    private readonly store: SecurityStore,
    private readonly realms: Realms,
    private readonly config: AuthConfig,
    private readonly entities: readonly EntityTarget<ObjectLiteral>[],
  ) {}

  /**
   * The checks that this deployment needs. One that only verifies tokens has no tables to check, and no database if it has
   * no `users.entity`.
   */
  indicators(): (() => Promise<HealthResult>)[] {
    const { database, realms, config, entities } = this;
    const postgres = needsDatabase(config) ? [() => this.postgres()] : [];
    const always = [() => this.securityStore(), () => this.keys()];
    if (!mayIssue(database, realms, config, entities)) return [...postgres, ...always];
    const secondFactors = this.factors.length > 0 ? [() => this.secondFactors()] : [];
    return [...postgres, () => this.migrations(), ...always, ...secondFactors];
  }

  /** Whether PostgreSQL answers. */
  postgres<Key extends string = 'auth_postgres'>(key = 'auth_postgres' as Key): Promise<HealthResult<Key>> {
    return this.judged(key, async () => {
      await this.database.query('SELECT 1');
      return null;
    });
  }

  /** Whether the security store writes a value and returns it. A read-only replica is down. */
  securityStore<Key extends string = 'auth_store'>(key = 'auth_store' as Key): Promise<HealthResult<Key>> {
    return this.judged(key, async () => {
      const probe = `svc:health:${randomUUID()}`;
      await this.store.add(probe, 'up', PROBE_TTL);
      return (await this.store.take(probe)) === 'up' ? null : 'failed';
    });
  }

  /** Whether the keys of every guard verify what they sign. A guard that only verifies needs at least one key. */
  keys<Key extends string = 'auth_keys'>(key = 'auth_keys' as Key): Promise<HealthResult<Key>> {
    return this.judged(key, async () => {
      const proved = await Promise.all(this.realms.all.map((scope) => provesItself(scope.get(Keyring))));
      return proved.every(Boolean) ? null : 'failed';
    });
  }

  /** Whether the tables of the library have every column of its entities. `pending`: run the migrations. */
  migrations<Key extends string = 'auth_migrations'>(key = 'auth_migrations' as Key): Promise<HealthResult<Key>> {
    return this.judged(key, async () => {
      const missing = await missingColumns(this.database, libraryColumns(this.database, this.entities));
      return missing.length ? 'pending' : null;
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
    const hasUnusable = this.factors.some((factors) => factors.hasUnusable);
    return { [key]: { status: 'up', ...(hasUnusable && { warning: 'unusable' }) } } as HealthResult<Key>;
  }

  /** Those of the guards with `features.twoFactor`. */
  private get factors(): SecondFactors[] {
    return this.realms.all
      .filter(({ realm }) => realm.options.features.twoFactor)
      .map((scope) => scope.get(SecondFactors));
  }

  private async judged<Key extends string>(
    key: Key,
    check: () => Promise<HealthFault | null>,
  ): Promise<HealthResult<Key>> {
    const fault = await withTimeout('The health check', TIMEOUT_MS, check()).catch((error) => this.faultOf(key, error));
    return { [key]: fault ? { status: 'down', reason: fault } : { status: 'up' } } as HealthResult<Key>;
  }

  private faultOf(key: string, error: unknown): HealthFault {
    if (isInconclusive(error)) return 'unreachable';
    // The error is only logged, because a driver's message may contain hosts and users.
    this.logger.error(`the health check ${key} failed`, (error as Error)?.stack);
    return 'failed';
  }
}
