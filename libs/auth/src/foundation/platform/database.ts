import type { DataSource, EntityManager, EntityTarget, ObjectLiteral, QueryRunner } from 'typeorm';
import { AuthConfigError, StoreUnavailable } from './errors';
import { withTimeout } from './deadline';
import { connect } from 'node:net';
import { sha256 } from './crypto';

interface Client extends PreparingClient, CancellableClient {
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

/** Waits for the lock named $1, and holds it until the transaction ends. */
export const LOCK_UNTIL_COMMIT = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';

/** Whether a statement failed because a table does not exist: its migration has not run (SQLSTATE 42P01). */
export const isMissingTable = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === '42P01';

/** Whether a statement failed because a table or a column does not exist (SQLSTATE 42P01, 42703). */
export const isMissing = (error: unknown): boolean =>
  isMissingTable(error) || (error as { code?: unknown } | null)?.code === '42703';

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

/**
 * Runs the statements of the library on PostgreSQL.
 *
 * Statements are plain SQL, because their locks, snapshots and clock reads matter. Here the error of an unreachable
 * database becomes `StoreUnavailable`.
 */
export class Database {
  private prepares = true;

  constructor(
    private readonly dataSource: DataSource | undefined,
    private readonly timeoutMs: number,
  ) {}

  /** The DataSource of the host. @throws AuthConfigError when the host has none */
  get source(): DataSource {
    if (!this.dataSource) {
      throw new AuthConfigError(
        'No TypeORM DataSource of PostgreSQL found. Import TypeOrmModule.forRoot() beside AuthModule.',
      );
    }
    return this.dataSource;
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

  /** Runs `work` with an entity manager on one connection, for the tables of the host. */
  withManager<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.connected(({ manager }) => work(manager));
  }

  /**
   * Runs `work` in one transaction on one connection. An error rolls the transaction back. `work` may run a second time
   * after a rollback, when a prepared statement has become invalid.
   *
   * @param work receives a function that runs statements in the transaction, and its entity manager for the tables of
   * the host
   */
  transaction<T>(work: (sql: Sql, manager: EntityManager) => Promise<T>): Promise<T> {
    return this.connected(async ({ client, sql, manager, throwIfOver }) => {
      // The statement timeout releases the connection when a lock or a slow server exceeds the deadline.
      // READ COMMITTED, whatever the default of the host: a statement that waited for a lock reads the committed rows.
      await client.query(`BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = ${this.timeoutMs}`);
      try {
        const result = await work(sql, manager);
        throwIfOver();
        await client.query('COMMIT');
        return result;
      } catch (error) {
        // After a failed rollback the connection still holds its locks: it must not return to the pool.
        await client.query('ROLLBACK').catch(() => client.end());
        throw error;
      }
    });
  }

  private async connected<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
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
    listenBetween(this.source);
    const runner = this.source.createQueryRunner();
    let held: Client | undefined;
    const run = async (): Promise<T> => {
      const client: Client = await runner.connect();
      throwIfOver();
      held = client;
      return work({
        client,
        throwIfOver,
        manager: runner.manager,
        sql: this.statementsOn(runner, client, throwIfOver, prepares),
      });
    };
    const release = (): Promise<void> => {
      held = undefined;
      return runner.release().catch(() => undefined);
    };
    try {
      return await withTimeout('PostgreSQL', this.timeoutMs, run().finally(release));
    } finally {
      isOver = true;
      // `statement_timeout` ends statements of a reachable server before this timer fires.
      if (held) setTimeout(() => held && cancelAndClose(held), this.timeoutMs).unref();
    }
  }

  /** Prepares every statement, because the planning of a join with a lock costs more than its execution. */
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

/** The part of a node-postgres client that {@link cancelAndClose} uses. */
export interface CancellableClient {
  readonly host?: string;
  readonly port?: number;
  readonly processID?: number | null;
  readonly secretKey?: number | Buffer | null;
  end(): Promise<void>;
}

/** PostgreSQL's CancelRequest (protocol 3.0, "Canceling Requests in Progress"). */
const CANCEL_CODE = 80877102;

/** Timeout of the cancel request in milliseconds. No request waits for it. */
const CANCEL_TIMEOUT_MS = 1000;

/**
 * Closes a connection on which a statement was not answered, so that the pool opens a new one: the server may be
 * unreachable without an error on the connection. If the server is reachable, it cancels the statement. Otherwise the
 * statement would wait until its lock is released, and so would the statement of every later connection.
 */
export function cancelAndClose(client: CancellableClient): void {
  const { host, port, processID, secretKey } = client;
  void client.end().catch(() => undefined);
  if (!host || !port || typeof processID !== 'number' || typeof secretKey !== 'number') return;
  const request = Buffer.alloc(16);
  [16, CANCEL_CODE, processID, secretKey].forEach((value, i) => request.writeInt32BE(value, i * 4));
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.on('error', () => undefined).setTimeout(CANCEL_TIMEOUT_MS, () => socket.destroy());
  socket.end(request);
}
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID in its usual form (RFC 9562 §4), in either case. */
export const isUuid = (text: unknown): boolean => typeof text === 'string' && UUID.test(text);

/** Converts an id to its canonical form: a UUID becomes lower case, every other id stays unchanged. */
export const canonicalId = (id: string): string => (isUuid(id) ? id.toLowerCase() : id);

/** Quotes a name as an identifier of PostgreSQL. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Quotes the name of a table that may include its schema: `crm.users`. */
export const quotedPath = (path: string): string => path.replaceAll(/[^.]+/g, quoted);
