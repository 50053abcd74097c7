import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, EntityManager, EntityTarget, ObjectLiteral, QueryRunner } from 'typeorm';
import { AuthConfigError, StoreUnavailable } from './errors';
import { currentDeadline, withTimeout } from './deadline';
import { sha256 } from './crypto';
import { type CancellableClient, cancelAndClose } from './statement-cancellation';

interface Client extends PreparingClient, CancellableClient {
  /** Whether queries are sent before the answers to earlier ones. Undefined in a version of node-postgres that cannot do it. */
  pipeline?: boolean;
  query(text: string): Promise<unknown>;
  query(...config: Parameters<PreparingClient['query']>): ReturnType<PreparingClient['query']>;
}

interface Connection {
  client: Client;
  sql: Sql;
  manager: EntityManager;
  /** @throws StoreUnavailable after the caller has received its answer */
  throwIfOver: () => void;
}

/** Runs one statement and returns its rows. */
export type Sql = <Row = Record<string, unknown>>(statement: string, params?: unknown[]) => Promise<Row[]>;

/** SQL that waits for the lock named by a parameter, and holds it until the transaction ends. */
export const lockUntilCommit = (name: string): string => `pg_advisory_xact_lock(hashtextextended(${name}, 0))`;

/** Waits for the lock named $1, and holds it until the transaction ends. */
export const LOCK_UNTIL_COMMIT = `SELECT ${lockUntilCommit('$1')}`;

/** Whether a statement failed because a table does not exist: its migration has not run (SQLSTATE 42P01). */
export const isMissingTable = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === '42P01';

/** Whether a statement failed because a table or a column does not exist (SQLSTATE 42P01, 42703). */
export const isMissing = (error: unknown): boolean =>
  isMissingTable(error) || (error as { code?: unknown } | null)?.code === '42703';

/** Whether a column of the host cannot contain a value: too long, or of another type (SQLSTATE class 22). */
export const isUnstorable = (error: unknown): boolean =>
  (error as { driverError?: { code?: string } } | null)?.driverError?.code?.startsWith('22') === true;

/** Whether a statement failed because a function does not exist (SQLSTATE 42883), as on an engine without standbys. */
export const isMissingFunction = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === '42883';

interface Pool {
  on(event: 'connect', listener: (client: { on(event: 'error', listener: () => void): void }) => void): void;
}

const listenedTo = new WeakSet<Pool>();

/**
 * Adds an error listener to every connection of the pool. The pool removes its own listener before TypeORM adds one. If
 * the server closes the connection between the two, for example at a restart, the unhandled error would end the
 * process. The pool and TypeORM still receive every error while they listen.
 */
function listenBetween({ driver }: DataSource): void {
  const { master } = driver as { master?: Pool };
  if (!master?.on || listenedTo.has(master)) return;
  listenedTo.add(master);
  master.on('connect', (client) => client.on('error', () => undefined));
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

/** The parts of an error of node-postgres, of TypeORM around it, and of `StoreUnavailable` around either. */
interface SqlError {
  readonly code?: unknown;
  readonly message?: string;
  readonly driverError?: unknown;
  readonly cause?: unknown;
}

/** Whether the error, or one that it wraps, has a property. `depth` ends a cycle of causes. */
const someError = (error: unknown, has: (error: SqlError) => boolean, depth = 5): boolean => {
  if (typeof error !== 'object' || error === null || depth === 0) return false;
  const { driverError, cause } = error as SqlError;
  return has(error) || someError(driverError, has, depth - 1) || someError(cause, has, depth - 1);
};

/**
 * Whether PostgreSQL has rolled work back because of other work at the same time: a serialization failure (40001) or a
 * deadlock (40P01). Nothing of it is committed, and the same work can succeed at once.
 */
const isConflict = (error: unknown): boolean => someError(error, ({ code }) => code === '40001' || code === '40P01');

/** Whether a statement waited for a lock for longer than `lock_timeout` (SQLSTATE 55P03). */
export const isLockTimeout = (error: unknown): boolean => someError(error, ({ code }) => code === '55P03');

/** SQLSTATE 25006. After a failover, the address of a connection may belong to a server that is not the primary. */
const isReadOnly = (error: unknown): boolean => someError(error, ({ code }) => code === '25006');

/** The error of PgBouncer to the first statement of a transaction. It has the SQLSTATE 08P01, as all its errors. */
const isStatementPooling = (error: unknown): boolean =>
  someError(error, ({ message }) => /statement pooling/i.test(message ?? ''));

/** Longest pause before the first repetition after a conflict, and before each later one, in milliseconds. */
const [FIRST_PAUSE_MS, LAST_PAUSE_MS] = [5, 80];

/**
 * Repeats an attempt that PostgreSQL has rolled back because of a conflict, with growing random pauses, within `ms` less
 * the time that the request has already waited. Every other error is passed on.
 *
 * @param attempt has no effect outside the database that must not be repeated, and runs no code of the host
 */
export async function repeatOnConflict<T>(ms: number, attempt: () => Promise<T>): Promise<T> {
  const end = performance.now() + (currentDeadline()?.left(ms) ?? ms);
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LAST_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error) || performance.now() >= end) throw error;
    }
    // A pause counts as a wait for the store.
    await withTimeout('PostgreSQL', ms, sleep(Math.random() * pause));
  }
}

/**
 * Runs the statements of the library on PostgreSQL, on the primary.
 *
 * Statements are plain SQL, because their locks, snapshots and clock reads matter. Here the error of an unreachable
 * database becomes `StoreUnavailable`, and work that PostgreSQL has rolled back because of a conflict is repeated.
 */
export class Database {
  private mayBeStandby = true;

  /** @param prepares whether statements are prepared by name; until a prepared statement has failed */
  constructor(
    private readonly dataSource: DataSource | undefined,
    private readonly timeoutMs: number,
    private prepares = true,
  ) {}

  /** The DataSource of the host. @throws AuthConfigError when the host has none */
  get source(): DataSource {
    if (!this.dataSource) {
      throw new AuthConfigError(
        'No TypeORM DataSource of PostgreSQL found. Import TypeOrmModule.forRoot() beside AuthModule, or set the option pool ' +
          'to a Pool of the package pg.',
      );
    }
    return this.dataSource;
  }

  /** The options of the DataSource; undefined without one. */
  get options(): DataSource['options'] | undefined {
    return this.dataSource?.options;
  }

  /** Whether the DataSource of the host has this entity. A service that only verifies tokens may have none. */
  hasEntity(entity: EntityTarget<ObjectLiteral>): boolean {
    return this.dataSource?.hasMetadata(entity) ?? false;
  }

  /** The quoted table name of an entity, with the schema and the naming strategy of the host. */
  table(entity: EntityTarget<ObjectLiteral>): string {
    return quotedPath(this.source.getMetadata(entity).tablePath);
  }

  /** Runs one statement on a connection of the pool. */
  query: Sql = (statement, params = []) => this.connected(({ sql }) => sql(statement, params));

  /**
   * Whether the server is a standby, whose data may be older than the primary's. False on an engine without standbys.
   *
   * @param or a condition that is true as well if earlier data was that of a standby, for the same moment
   */
  async isStandby(or?: string, params?: unknown[]): Promise<boolean> {
    if (!this.mayBeStandby) return false;
    try {
      const [row] = await this.query<{ is: boolean }>(
        `SELECT pg_is_in_recovery()${or ? ` OR ${or}` : ''} AS is`,
        params,
      );
      return row?.is === true;
    } catch (error) {
      if (!isMissingFunction(error)) throw error;
      this.mayBeStandby = false;
      return false;
    }
  }

  /**
   * Runs `work` with an entity manager on one connection, for the tables of the host.
   *
   * @param work as for {@link transaction}
   */
  withManager<T>(work: (manager: EntityManager) => Promise<T>, once = false): Promise<T> {
    return this.connected(({ manager }) => work(manager), once);
  }

  /**
   * Runs `work` in one transaction on one connection. An error rolls the transaction back. After a rollback `work` may run
   * again: because of a conflict with other transactions, or once because a prepared statement has become invalid.
   *
   * @param work receives a function that runs statements in the transaction, and its entity manager for the tables of
   * the host. Its effects outside the transaction can be repeated
   * @param once whether `work` runs exactly once, because it may call code of the host: see {@link callsHost}
   */
  transaction<T>(work: (sql: Sql, manager: EntityManager) => Promise<T>, once = false): Promise<T> {
    return this.connected(async ({ client, sql, manager, throwIfOver }) => {
      // The statement timeout releases the connection when a lock or a slow server exceeds the deadline.
      // READ COMMITTED, whatever the default of the host: a statement that waited for a lock reads the committed rows.
      const begin = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = ${this.timeoutMs}`;
      // The first statement is sent with it: one round trip less. Not with code of the host, whose cursors a pipeline refuses.
      const isAhead = !once && client.pipeline === false;
      if (isAhead) client.pipeline = true;
      const begun = client.query(begin);
      // Awaited below.
      begun.catch(() => undefined);
      try {
        if (!isAhead) await begun;
        const inOrder: Sql = async <Row>(statement: string, params?: unknown[]) => {
          const rows = await sql<Row>(statement, params);
          await begun;
          return rows;
        };
        const result = await work(inOrder, manager);
        await begun;
        throwIfOver();
        await client.query('COMMIT');
        return result;
      } catch (error) {
        // After a failed rollback the connection still holds its locks: it must not return to the pool.
        await client.query('ROLLBACK').catch(() => client.end());
        // The error of BEGIN is the reason of that of the statement after it.
        await begun;
        throw error;
      } finally {
        // Every query has been answered.
        if (isAhead) client.pipeline = false;
      }
    }, once);
  }

  /** Whether TypeORM calls code of the host when an entity changes: a listener of the entity, or any subscriber. */
  callsHost(entity: EntityTarget<ObjectLiteral>): boolean {
    return this.source.getMetadata(entity).listeners.length > 0 || this.source.subscribers.length > 0;
  }

  /** Whether the statements of a transaction run in one transaction of the server. Not behind a pooler of statements. */
  async hasTransactions(): Promise<boolean> {
    // Constant within a transaction, and different in two transactions of one statement each.
    const statement = 'SELECT transaction_timestamp()::text AS begin';
    try {
      return await this.transaction(async (sql) => {
        const [[first], [second]] = [await sql(statement), await sql(statement)];
        return first!.begin === second!.begin;
      });
    } catch (error) {
      if (isStatementPooling(error)) return false;
      throw error;
    }
  }

  private connected<T>(work: (connection: Connection) => Promise<T>, once = false): Promise<T> {
    // Without named statements, because a prepared statement that has become invalid needs a second run.
    return once ? this.attempt(work, false) : repeatOnConflict(this.timeoutMs, () => this.prepared(work));
  }

  private async prepared<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const { prepares } = this;
    try {
      return await this.attempt(work, prepares);
    } catch (error) {
      if (!prepares || !isStale(error)) throw error;
      const result = await this.attempt(work, false);
      // Only now: a statement that fails unprepared as well has not failed because it was prepared.
      this.prepares = false;
      return result;
    }
  }

  private async attempt<T>(work: (connection: Connection) => Promise<T>, prepares: boolean): Promise<T> {
    let isOver = false;
    // After the timeout the caller has received a 503. No later statement may have an effect.
    const throwIfOver = (): void => {
      if (isOver) throw new StoreUnavailable('PostgreSQL');
    };
    const { runner, client } = await this.connection();
    let held: Client | undefined = client;
    const run = async (): Promise<T> => {
      const { manager } = runner;
      try {
        return await work({
          client,
          throwIfOver,
          manager,
          sql: this.statementsOn(runner, client, throwIfOver, prepares),
        });
      } catch (error) {
        // The pool opens a new connection in its place, which may reach the new primary.
        if (isReadOnly(error)) void client.end().catch(() => undefined);
        throw error;
      }
    };
    let closing: Promise<void> | undefined;
    const release = async (): Promise<void> => {
      held = undefined;
      // The pool must not reuse a connection that is being closed.
      await closing;
      await runner.release().catch(() => undefined);
    };
    try {
      return await withTimeout('PostgreSQL', this.timeoutMs, run().finally(release));
    } finally {
      isOver = true;
      // `statement_timeout` ends statements of a reachable server before this timer fires.
      if (held) setTimeout(() => held && (closing = cancelAndClose(held)), this.timeoutMs).unref();
    }
  }

  /** Takes a connection of the pool. It has a time limit of its own, because a new connection takes several round trips. */
  private async connection(): Promise<{ runner: QueryRunner; client: Client }> {
    listenBetween(this.source);
    const runner = this.source.createQueryRunner();
    const connecting: Promise<Client> = runner.connect();
    try {
      return { runner, client: await withTimeout('PostgreSQL', this.timeoutMs, connecting) };
    } catch (error) {
      const release = (): Promise<void> => runner.release().catch(() => undefined);
      connecting.then(release, release);
      throw error;
    }
  }

  /** Prepares statements by name, because the planning of a join with a lock costs more than its execution. */
  private statementsOn(runner: QueryRunner, client: Client, throwIfOver: () => void, prepares: boolean): Sql {
    return async <Row>(text: string, values: unknown[] = []) => {
      throwIfOver();
      this.source.logger.logQuery(text, values, runner);
      const { rows } = await client.query({ name: prepares ? statementName(text) : undefined, text, values });
      throwIfOver();
      return rows as Row[];
    };
  }
}

/** A client or pool of node-postgres. Unlike `query` of TypeORM, it can prepare a statement by name. */
export interface PreparingClient {
  query(config: { name?: string; text: string; values: unknown[] }): Promise<{ rows: Record<string, unknown>[] }>;
}

const names = new Map<string, string>();

/** Derives the name from the statement, so that two data sources behind one connection pooler use the same name. */
export function statementName(text: string): string {
  const known = names.get(text) ?? `svc-${sha256(text).slice(0, 16)}`;
  names.set(text, known);
  return known;
}

const STALE = new Set(['26000', '42P05', '0A000']);

/** Whether a connection pooler (26000, 42P05) or a migration (0A000) made a prepared statement invalid. */
export const isStale = (error: unknown): boolean => STALE.has((error as { code?: string } | null)?.code ?? '');

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID in its usual form (RFC 9562 §4), in either case. */
export const isUuid = (text: unknown): boolean => typeof text === 'string' && UUID.test(text);

/** Converts an id to its canonical form: a UUID becomes lower case, every other id stays unchanged. */
export const canonicalId = (id: string): string => (isUuid(id) ? id.toLowerCase() : id);

/** Quotes a name as an identifier of PostgreSQL. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Quotes the name of a table that may include its schema: `crm.users`. */
export const quotedPath = (path: string): string => path.replaceAll(/[^.]+/g, quoted);
