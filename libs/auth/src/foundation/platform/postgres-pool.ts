import { type InjectionToken, Logger, type Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { STATIC_CONTEXT } from '@nestjs/core/injector/constants';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { isUnavailable } from './deadline';
import { metadataOf, typeOrmSource } from './entity';
import { AuthConfigError } from './errors';
import type { Client } from './pg-connection';

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

/** A client of a pool. */
type PooledClient = Client & {
  query(text: string, params?: unknown[]): Promise<Result | Result[]>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
  release(error?: Error): void;
};

interface Result {
  readonly command?: string;
  readonly rows?: unknown[];
  readonly rowCount?: number | null;
}

/** A connection of the pool. Its transactions within a transaction are savepoints. */
class PoolRunner {
  readonly manager: PoolManager;
  /** As in TypeORM, so that a runner on a client of the host is made in the same way. */
  databaseConnection?: PooledClient;
  isTransactionActive = false;
  transactionDepth = 0;
  private connecting?: Promise<PooledClient>;
  private isReleased = false;

  constructor(
    readonly source: PoolSource,
    private readonly pool: PostgresPool,
  ) {
    this.manager = new PoolManager(source, this);
  }

  async connect(): Promise<PooledClient> {
    return this.databaseConnection ?? (this.connecting ??= this.takeClient());
  }

  /** A statement that changes rows resolves to `[rows, count]`, every other one to its rows, as in TypeORM. */
  async query(text: string, params?: unknown[]): Promise<unknown> {
    if (this.isReleased) throw new Error('The query runner was already released.');
    const result = await (await this.connect()).query(text, params);
    if (Array.isArray(result)) return undefined;
    const { command, rows, rowCount } = result;
    return command === 'DELETE' || command === 'UPDATE' ? [rows, rowCount] : rows;
  }

  async startTransaction(isolation?: string): Promise<void> {
    const begin = `BEGIN${isolation ? ` ISOLATION LEVEL ${isolation}` : ''}`;
    this.isTransactionActive = true;
    await this.query(this.transactionDepth ? `SAVEPOINT ${this.savepoint(this.transactionDepth)}` : begin);
    this.transactionDepth++;
  }

  commitTransaction = (): Promise<void> => this.endTransaction('RELEASE SAVEPOINT', 'COMMIT');
  rollbackTransaction = (): Promise<void> => this.endTransaction('ROLLBACK TO SAVEPOINT', 'ROLLBACK');

  async release(): Promise<void> {
    this.giveBack();
  }

  private async takeClient(): Promise<PooledClient> {
    const client = (await this.pool.connect()) as PooledClient;
    client.on('error', this.giveBack);
    return (this.databaseConnection = client);
  }

  /** The pool closes a connection that is given back with an error. A client of the host, which was not taken here, stays with it. */
  private readonly giveBack = (error?: Error): void => {
    if (this.isReleased) return;
    this.isReleased = true;
    if (!this.connecting || !this.databaseConnection) return;
    this.databaseConnection.off('error', this.giveBack);
    this.databaseConnection.release(error);
  };

  private async endTransaction(ofSavepoint: string, ofAll: string): Promise<void> {
    if (!this.isTransactionActive) throw new Error('No transaction is open on this connection.');
    const isInner = this.transactionDepth > 1;
    await this.query(isInner ? `${ofSavepoint} ${this.savepoint(this.transactionDepth - 1)}` : ofAll);
    this.isTransactionActive = isInner;
    this.transactionDepth = Math.max(0, this.transactionDepth - 1);
  }

  private readonly savepoint = (depth: number): string => `svc_inner_${depth}`;
}

/** What code of the host gets as the entity manager. */
class PoolManager {
  constructor(
    readonly dataSource: PoolSource,
    readonly queryRunner: PoolRunner,
  ) {}

  query(text: string, params?: unknown[]): Promise<unknown> {
    return this.queryRunner.query(text, params);
  }

  /** Runs `work` in a transaction, or in a savepoint of the one that is open. An error undoes it. */
  async transaction<T>(work: (manager: PoolManager) => Promise<T>): Promise<T> {
    await this.queryRunner.startTransaction();
    try {
      const result = await work(this);
      await this.queryRunner.commitTransaction();
      return result;
    } catch (error) {
      await this.queryRunner.rollbackTransaction().catch(() => undefined);
      throw error;
    }
  }
}

/**
 * The members of a data source of TypeORM that the library uses, on a pool of the host and for the tables of the library: users
 * of a provider need nothing else. It does not load TypeORM.
 */
class PoolSource {
  readonly options: { readonly type: 'postgres' };
  readonly subscribers = [];
  readonly logger = { logQuery: (): void => undefined };
  readonly entityMetadatas: ReturnType<typeof metadataOf>[];
  readonly driver: { readonly master: PostgresPool; readonly slaves: readonly PostgresPool[] };

  private constructor(pool: PostgresPool, entities: readonly Type[]) {
    this.options = { ...pool.options, type: 'postgres' };
    this.driver = { master: pool, slaves: [] };
    this.entityMetadatas = entities.map(metadataOf);
  }

  /** As the type of TypeORM, which the library uses for both. */
  static on(pool: PostgresPool, entities: readonly Type[]): DataSource {
    return new PoolSource(pool, entities) as unknown as DataSource;
  }

  hasMetadata(entity: unknown): boolean {
    return this.entityMetadatas.some(({ target }) => target === entity);
  }

  getMetadata(entity: unknown): ReturnType<typeof metadataOf> {
    const found = this.entityMetadatas.find(({ target }) => target === entity);
    if (!found) throw new Error(`No metadata for "${(entity as Type)?.name}" was found.`);
    return found;
  }

  createQueryRunner(): PoolRunner {
    return new PoolRunner(this, this.driver.master);
  }

  async transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const runner = this.createQueryRunner();
    try {
      return await runner.manager.transaction(work as unknown as (manager: PoolManager) => Promise<T>);
    } finally {
      await runner.release();
    }
  }
}

/** The data sources on a pool of the host. */
const onPools = new WeakSet<object>();

/** Whether a data source is that of the option `pool`. */
export const isOnPool = (source: object): boolean => onPools.has(source);

/**
 * Makes a data source on a pool of the host, and connects once. It never ends the pool. With an entity of users it is one of
 * TypeORM.
 *
 * @param entities those of the library
 * @param users those of the host
 * @throws AuthConfigError for a value that is not a pool of node-postgres, and for a URL with a schema that `pg` ignores
 * @throws the error of the last attempt to connect
 */
export async function sourceOn(
  pool: PostgresPool,
  entities: readonly Type[],
  users: readonly Type[] = [],
): Promise<DataSource> {
  const members: readonly unknown[] = [pool?.connect, pool?.on, pool?.off];
  if (!members.every((member) => typeof member === 'function') || typeof pool.options !== 'object') {
    throw new AuthConfigError(
      'The option pool is not a pool of node-postgres. Set it to new Pool({ connectionString }) of the package pg, or to ' +
        '{ useFactory } or { useExisting } with such a pool.',
    );
  }
  refuseIgnoredSchema((pool.options as { connectionString?: unknown }).connectionString);
  for (let attempt = 1; ; attempt++) {
    // Another application may use the same pool, and TypeORM adds its listener at each attempt.
    pool.off('error', ignore);
    try {
      const source = users.length ? await typeOrmOn(pool, [...entities, ...users]) : await connectedOn(pool, entities);
      onPools.add(source);
      return source;
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

/** The library's own data source on a pool, to which the server has answered. */
export async function connectedOn(pool: PostgresPool, entities: readonly Type[]): Promise<DataSource> {
  pool.on('error', ignore);
  ((await pool.connect()) as PooledClient).release();
  return PoolSource.on(pool, entities);
}

/** A data source of TypeORM on a pool of the host. TypeORM would end the pool after a failed start. */
function typeOrmOn(pool: PostgresPool, entities: Type[]): Promise<DataSource> {
  const TypeOrmSource = typeOrmSource();
  const driver = { Pool: ofHost(pool) };
  const source = new TypeOrmSource({
    type: 'postgres',
    entities,
    driver,
    poolErrorHandler: ignore,
    installExtensions: false,
  });
  return Object.assign(source, { destroy: async () => undefined }).initialize();
}

/**
 * Returns the data source if it is on PostgreSQL; undefined for another one, which a service that only verifies may have for
 * its own tables.
 *
 * @throws AuthConfigError for another database if one is needed
 */
export function onPostgres(source: DataSource | undefined, isNeeded: boolean): DataSource | undefined {
  const type = source?.options?.type;
  if (!source || type === 'postgres') return source;
  if (!isNeeded) return undefined;
  throw otherType(type);
}

/** The SQL and the locks of another database are different. */
const otherType = (type: unknown): AuthConfigError =>
  new AuthConfigError(
    `The TypeORM data source has the type "${String(type)}", and @svc/auth needs PostgreSQL. Set type: 'postgres'; or add a second ` +
      'data source, on PostgreSQL, and name it in the option dataSource.',
  );

/** The token of the options of `TypeOrmModule`, which its package does not export. */
const TYPEORM_OPTIONS = 'TypeOrmModuleOptions';

/**
 * Refuses a database of another type before TypeORM has connected to it. Its own errors, such as that of a missing driver or of a type
 * of a column, name no correction, and it repeats the attempt for half a minute.
 *
 * @param token that of the data source
 * @throws AuthConfigError
 */
export async function refuseOtherTypes(modules: ModulesContainer, token: InjectionToken): Promise<void> {
  for (const { providers } of modules.values()) {
    const given = providers.get(token) && providers.get(TYPEORM_OPTIONS);
    // The factory of the options may wait for other providers. Its own error is reported by Nest.
    await given?.getInstanceByContextId(STATIC_CONTEXT).donePromise?.catch(() => undefined);
    const type = (given?.instance as { type?: string } | undefined)?.type;
    if (type !== undefined && type !== 'postgres') throw otherType(type);
  }
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
