import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { EntityTarget, ObjectLiteral } from 'typeorm';
import type { AuthConfig } from '../../foundation/config/auth-config';
import { Database } from '../../foundation/platform/database';
import { withTimeout, isInconclusive } from '../../foundation/platform/deadline';
import { Realms } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { signJws, verifyJws } from '../../identity/tokens/jws';
import { Keyring } from '../../identity/tokens/keyring';

/** `typ` of what is signed as a probe: no token of ours has it, so none can be mistaken for one. */
const TYPE = 'health+probe';

/**
 * Whether a key ring verifies what it signs. One that only verifies has proved its keys when it was made, or has keys
 * that were read from elsewhere; the probe reads them, or a service that waits to be healthy would never do so.
 *
 * @throws StoreUnavailable where they were never read and cannot be
 */
export async function provesItself(keyring: Keyring): Promise<boolean> {
  if (keyring.canSign) return verifyJws(keyring, signJws(keyring, TYPE, {})) !== null;
  return keyring.remote ? keyring.remote.hasAny() : true;
}

/** Whether the tables of some entities lack a column, or are not there at all: a migration has not run. */
export async function lacksColumns(
  database: Database,
  entities: readonly EntityTarget<ObjectLiteral>[],
): Promise<boolean> {
  const wanted = entities.flatMap((entity) =>
    database.source
      .getMetadata(entity)
      .columns.map(({ databaseName }) => [database.table(entity), databaseName] as const),
  );
  const missing = await database.query(
    `SELECT 1 FROM unnest($1::text[], $2::text[]) AS wanted (relation, attribute)
      WHERE NOT EXISTS (SELECT 1 FROM pg_attribute
        WHERE attrelid = to_regclass(relation) AND attname = attribute AND NOT attisdropped) LIMIT 1`,
    [wanted.map(([table]) => table), wanted.map(([, column]) => column)],
  );
  return missing.length > 0;
}

/** Longest check, in milliseconds. */
const PATIENCE_MS = 1000;

/** Seconds after which a store that lost the connection in the middle of a check forgets it. */
const PROBE_TTL = 10;

/** Why something is down: `unreachable` within a second, `failed` where it answered something else than it should. */
export type HealthFault = 'unreachable' | 'failed' | 'pending';

/**
 * What an indicator of `@nestjs/terminus` resolves to. It says no more than this: health routes are often public.
 *
 * @publicApi
 */
export type HealthResult<Key extends string = string> = Record<Key, { status: 'up' | 'down'; reason?: HealthFault }>;

/**
 * Whether what the library stands on works, for the host's own health route. Each check ends within a second and
 * resolves, whatever is wrong; it never rejects.
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

  /** Every check that this deployment needs; one that only verifies tokens has no tables. */
  indicators(): (() => Promise<HealthResult>)[] {
    const always = [() => this.securityStore(), () => this.keys()];
    return this.config.routes ? [() => this.postgres(), () => this.migrations(), ...always] : always;
  }

  /** Whether PostgreSQL answers. */
  postgres<Key extends string = 'auth_postgres'>(key = 'auth_postgres' as Key): Promise<HealthResult<Key>> {
    return this.judged(key, async () => {
      await this.database.query('SELECT 1');
      return null;
    });
  }

  /** Whether the store of revocations and limits takes a value and gives it back: a replica that only reads is down. */
  securityStore<Key extends string = 'auth_store'>(key = 'auth_store' as Key): Promise<HealthResult<Key>> {
    return this.judged(key, async () => {
      const probe = `svc:health:${randomUUID()}`;
      await this.store.add(probe, 'up', PROBE_TTL);
      return (await this.store.take(probe)) === 'up' ? null : 'failed';
    });
  }

  /** Whether the keys of every guard sign what they verify, or where none signs, whether there are any to verify with. */
  keys<Key extends string = 'auth_keys'>(key = 'auth_keys' as Key): Promise<HealthResult<Key>> {
    return this.judged(key, async () => {
      const proved = await Promise.all(this.realms.all.map((scope) => provesItself(scope.get(Keyring))));
      return proved.every(Boolean) ? null : 'failed';
    });
  }

  /** Whether the tables of the library have every column that it knows. `pending`: run the migrations. */
  migrations<Key extends string = 'auth_migrations'>(key = 'auth_migrations' as Key): Promise<HealthResult<Key>> {
    return this.judged(key, async () => ((await lacksColumns(this.database, this.entities)) ? 'pending' : null));
  }

  private async judged<Key extends string>(
    key: Key,
    check: () => Promise<HealthFault | null>,
  ): Promise<HealthResult<Key>> {
    const fault = await withTimeout('The health check', PATIENCE_MS, check()).catch((error) =>
      this.faultOf(key, error),
    );
    return { [key]: fault ? { status: 'down', reason: fault } : { status: 'up' } } as HealthResult<Key>;
  }

  private faultOf(key: string, error: unknown): HealthFault {
    if (isInconclusive(error)) return 'unreachable';
    // The log alone is told: a driver's message may name hosts and users.
    this.logger.error(`the health check ${key} failed`, (error as Error)?.stack);
    return 'failed';
  }
}
