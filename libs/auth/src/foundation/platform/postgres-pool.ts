import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { isUnavailable } from './deadline';
import { AuthConfigError } from './errors';

/** A connection pool of node-postgres: `new Pool()` of the package `pg`. Its other members are not used by name. */
export interface PostgresPool {
  readonly options: object;
  connect(): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
}

/** DI token of the pool in the option `pool`; null without one. */
export const POSTGRES_POOL = Symbol('POSTGRES_POOL');

/** Attempts to connect when the application starts, and the pause between them, as `TypeOrmModule` has them. */
const [ATTEMPTS, PAUSE_MS] = [10, 3000];

/** The pool removes a connection that fails while it is idle. Without a listener, its error would end the process. */
const ignore = (): void => undefined;

/** A data source on a pool of the host, which closes the pool itself. TypeORM would end it after a failed start. */
export class SourceOnPool extends DataSource {
  override async destroy(): Promise<void> {}
}

/**
 * Makes a TypeORM data source on a pool of the host. It never ends the pool.
 *
 * @throws AuthConfigError for a value that is not a pool of node-postgres, and for a URL with a schema that `pg` ignores
 * @throws the error of the last attempt to connect
 */
export async function sourceOn(
  pool: PostgresPool,
  options: Pick<DataSourceOptions, 'entities' | 'migrations' | 'migrationsTableName'>,
): Promise<DataSource> {
  const members: readonly unknown[] = [pool?.connect, pool?.on, pool?.off];
  if (!members.every((member) => typeof member === 'function') || typeof pool.options !== 'object') {
    throw new AuthConfigError(
      'The option pool is not a pool of node-postgres. Set it to new Pool({ connectionString }) of the package pg, or to ' +
        '{ useFactory } or { useExisting } with such a pool.',
    );
  }
  const driver = { Pool: ofHost(pool) };
  refuseIgnoredSchema((pool.options as { connectionString?: unknown }).connectionString);
  for (let attempt = 1; ; attempt++) {
    // TypeORM adds its listener at each attempt, and another application may use the same pool.
    pool.off('error', ignore);
    try {
      const source = new SourceOnPool({
        ...options,
        type: 'postgres',
        driver,
        poolErrorHandler: ignore,
        installExtensions: false,
      });
      return await source.initialize();
    } catch (error) {
      if (attempt === ATTEMPTS || !isUnavailable(error)) throw error;
      const { message, code } = error as Error & { code?: string };
      new Logger('Auth').error(
        `PostgreSQL was not reached (${message || code}). The next attempt is in ${PAUSE_MS / 1000} s.`,
      );
      await sleep(PAUSE_MS);
    }
  }
}

/**
 * Returns the data source if it is on PostgreSQL; undefined for another one, which a service that only verifies may have for
 * its own tables.
 *
 * @throws AuthConfigError for another database if one is needed: its SQL and locks are different
 */
export function onPostgres(source: DataSource | undefined, isNeeded: boolean): DataSource | undefined {
  const type = source?.options?.type;
  if (!source || type === 'postgres') return source;
  if (!isNeeded) return undefined;
  throw new AuthConfigError(
    `The TypeORM data source has the type "${type}", and @svc/auth needs PostgreSQL. Name a data source ` +
      `with type: 'postgres' in the option dataSource.`,
  );
}

/**
 * `?schema=` is a parameter of Prisma. `pg` ignores it: the tables of the library would be in another schema than the host
 * expects, or not be found there.
 *
 * @throws AuthConfigError
 */
function refuseIgnoredSchema(url: unknown): void {
  const schema = typeof url === 'string' && URL.canParse(url) ? new URL(url).searchParams.get('schema') : null;
  if (!schema || schema === 'public') return;
  throw new AuthConfigError(
    `The URL of the option pool has schema=${schema}, a parameter of Prisma that the package pg ignores. Give the pool a ` +
      `search path: new Pool({ connectionString, options: '-c search_path=${schema}' }), and remove schema from its URL.`,
  );
}

/** A constructor that returns the pool of the host, whatever its options are. */
const ofHost = (pool: PostgresPool) =>
  function PoolOfHost(): PostgresPool {
    return pool;
  };
