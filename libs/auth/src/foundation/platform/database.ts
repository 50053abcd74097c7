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
  /** @throws StoreUnavailable once the caller has been answered */
  stillAwaited: () => void;
}

/** Runs one statement and returns its rows. */
export type Sql = <Row = Record<string, unknown>>(statement: string, params?: unknown[]) => Promise<Row[]>;

/** Whether a statement failed because a table does not exist: its migration has not run (SQLSTATE 42P01). */
export const isMissingTable = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === '42P01';

/** The same, or a column that it lacks (42703). */
export const isMissing = (error: unknown): boolean =>
  isMissingTable(error) || (error as { code?: unknown } | null)?.code === '42703';

interface Pool {
  on(event: 'connect', listener: (client: { on(event: 'error', listener: () => void): void }) => void): void;
}

const heard = new WeakSet<Pool>();

/**
 * The pool stops listening to a connection before TypeORM begins: one that the server ends in that moment, as at a restart,
 * would end the process. Both still learn of every other error.
 */
function listenBetween({ driver }: DataSource): void {
  const { master } = driver as { master?: Pool };
  if (!master?.on || heard.has(master)) return;
  heard.add(master);
  master.on('connect', (client) => client.on('error', () => undefined));
}

/**
 * The one door to PostgreSQL for the library's own tables.
 *
 * Statements are written out, because a lock, a snapshot and a clock read are what they are about.
 * An unreachable database becomes `StoreUnavailable` here and nowhere else.
 */
export class Database {
  private prepares = true;

  constructor(
    private readonly dataSource: DataSource | undefined,
    private readonly timeoutMs: number,
  ) {}

  /** The host's connection. @throws AuthConfigError when the host has none */
  get source(): DataSource {
    if (!this.dataSource) {
      throw new AuthConfigError('No TypeORM DataSource found. Import TypeOrmModule.forRoot() beside AuthModule.');
    }
    return this.dataSource;
  }

  /** Whether the host's connection has this entity at all; one that only verifies may have none. */
  hasEntity(entity: EntityTarget<ObjectLiteral>): boolean {
    return this.dataSource?.hasMetadata(entity) ?? false;
  }

  /** The quoted table of an entity, so that schema and naming strategy of the host hold. */
  table(entity: EntityTarget<ObjectLiteral>): string {
    return quotedPath(this.source.getMetadata(entity).tablePath);
  }

  query: Sql = (statement, params = []) => this.connected(({ sql }) => sql(statement, params));

  /** Runs `work` with an entity manager on one connection, for the host's own tables. */
  withManager<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.connected(({ manager }) => work(manager));
  }

  /**
   * Runs `work` in one transaction on one connection; a throw rolls everything back. It may run a second
   * time after a rollback, where prepared statements do not hold.
   *
   * @param work is given the transaction's statements, and its entity manager for the host's own tables
   */
  transaction<T>(work: (sql: Sql, manager: EntityManager) => Promise<T>): Promise<T> {
    return this.connected(async ({ client, sql, manager, stillAwaited }) => {
      // What a lock or a slow server delays beyond the answer must not keep its connection either.
      // READ COMMITTED whatever the host's default: what waited for a lock decides on what it finds then.
      await client.query(`BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = ${this.timeoutMs}`);
      try {
        const result = await work(sql, manager);
        stillAwaited();
        await client.query('COMMIT');
        return result;
      } catch (error) {
        // A connection that cannot roll back still holds the locks: it must not go back to the pool.
        await client.query('ROLLBACK').catch(() => client.end());
        throw error;
      }
    });
  }

  private async connected<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const prepared = this.prepares;
    try {
      return await this.attempt(work);
    } catch (error) {
      if (!prepared || !isStale(error)) throw error;
      this.prepares = false;
      return this.attempt(work);
    }
  }

  private async attempt<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    let awaited = true;
    // The caller was already told 503: what it believes did not happen must not happen.
    const stillAwaited = (): void => {
      if (!awaited) throw new StoreUnavailable('PostgreSQL');
    };
    listenBetween(this.source);
    const runner = this.source.createQueryRunner();
    let held: Client | undefined;
    const run = async (): Promise<T> => {
      const client: Client = await runner.connect();
      stillAwaited();
      held = client;
      return work({
        client,
        stillAwaited,
        manager: runner.manager,
        sql: this.statementsOn(runner, client, stillAwaited),
      });
    };
    const release = (): Promise<void> => {
      held = undefined;
      return runner.release().catch(() => undefined);
    };
    try {
      return await withTimeout('PostgreSQL', this.timeoutMs, run().finally(release));
    } finally {
      awaited = false;
      // Whatever the server bounds has ended by then.
      if (held) setTimeout(() => held && cancelAndClose(held), this.timeoutMs).unref();
    }
  }

  /** Planning a join with its lock costs more than running it, so every statement is prepared. */
  private statementsOn(runner: QueryRunner, client: Client, stillAwaited: () => void): Sql {
    return async <Row>(text: string, values: unknown[] = []) => {
      stillAwaited();
      this.source.logger.logQuery(text, values, runner);
      const { rows } = await client.query({ name: this.prepares ? statementName(text) : undefined, text, values });
      stillAwaited();
      return rows as Row[];
    };
  }
}

/** node-postgres' client and pool: unlike TypeORM's `query` they can prepare a statement by name. */
export interface PreparingClient {
  query(config: { name?: string; text: string; values: unknown[] }): Promise<{ rows: Record<string, unknown>[] }>;
}

const names = new Map<string, string>();

/** A name that is the statement itself, so that two data sources behind one connection pooler agree. */
export function statementName(text: string): string {
  const known = names.get(text) ?? `svc-${sha256(text).slice(0, 16)}`;
  names.set(text, known);
  return known;
}

const STALE = new Set(['26000', '42P05', '0A000']);

/** Whether a connection pooler (26000, 42P05) or a migration (0A000) took a prepared statement from under us. */
export const isStale = (error: unknown): boolean => STALE.has((error as { code?: string } | null)?.code ?? '');

/** What of a node-postgres client is needed to give it up. */
export interface CancellableClient {
  readonly host?: string;
  readonly port?: number;
  readonly processID?: number | null;
  readonly secretKey?: number | Buffer | null;
  end(): Promise<void>;
}

/** PostgreSQL's CancelRequest (protocol 3.0, "Canceling Requests in Progress"). */
const CANCEL_CODE = 80877102;

/** Milliseconds to try for: nobody waits for it. */
const PATIENCE_MS = 1000;

/**
 * Gives up a connection on which a statement is not answered, so that the pool makes another one: its peer may
 * have gone without a word. Where the server is there after all, the statement is cancelled, or it would wait for
 * its lock as long as that is held, and every connection after it would too.
 */
export function cancelAndClose(client: CancellableClient): void {
  const { host, port, processID, secretKey } = client;
  void client.end().catch(() => undefined);
  if (!host || !port || typeof processID !== 'number' || typeof secretKey !== 'number') return;
  const request = Buffer.alloc(16);
  [16, CANCEL_CODE, processID, secretKey].forEach((value, i) => request.writeInt32BE(value, i * 4));
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.on('error', () => undefined).setTimeout(PATIENCE_MS, () => socket.destroy());
  socket.end(request);
}
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID in its usual form (RFC 9562 §4), in either case. */
export const isUuid = (text: string): boolean => UUID.test(text);

/** An id in its one spelling: a UUID in lower case, as ours are; what is none to the letter. */
export const canonicalId = (id: string): string => (isUuid(id) ? id.toLowerCase() : id);

/** A name as PostgreSQL takes it to the letter, whatever characters it has. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The same of a table that may be named with its schema: `crm.users`. */
export const quotedPath = (path: string): string => path.replaceAll(/[^.]+/g, quoted);
