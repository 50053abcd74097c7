import type { EventEmitter } from 'node:events';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, EntityManager, EntityMetadata, EntityTarget, ObjectLiteral, QueryRunner } from 'typeorm';
import { AuthConfigError, StoreUnavailable } from './errors';
import { currentDeadline, outerTransaction, repeatOnConflict, withTimeout } from './deadline';
import { TransactionPart } from './host-transaction';
import { machineTime } from './clock';
import { sha256 } from './crypto';
import { type Client, type PooledConnection, cancelAndClose } from './pg-connection';
import { isMissingFunction, isReadOnly, isStale, isStatementPooling } from './pg-errors';

interface Connection {
  client: Client;
  sql: ParsedSql;
  manager: EntityManager;
  /** @throws StoreUnavailable after the caller has received its answer */
  throwIfOver: () => void;
}

/** Runs one statement and returns its rows. */
export type Sql = <Row = Record<string, unknown>>(statement: string, params?: unknown[]) => Promise<Row[]>;

/** @param types the parsers of the result; null for those of the host */
export type ParsedSql = <Row>(statement: string, params?: unknown[], types?: typeof OWN_TYPES | null) => Promise<Row[]>;

/** SQL that waits for the lock named by a parameter, and holds it until the transaction ends. */
export const lockUntilCommit = (name: string): string => `pg_advisory_xact_lock(hashtextextended(${name}, 0))`;

/** Waits for the lock named $1, and holds it until the transaction ends. */
export const LOCK_UNTIL_COMMIT = `SELECT ${lockUntilCommit('$1')}`;

const listenedTo = new WeakSet<EventEmitter>();

/**
 * Adds an error listener to every connection of the pool. The pool removes its own listener before TypeORM adds one. If
 * the server closes the connection between the two, for example at a restart, the unhandled error would end the
 * process. The pool and TypeORM still receive every error while they listen.
 */
function listenBetween({ driver }: DataSource): void {
  const { master } = driver as { master?: EventEmitter };
  if (!master?.on || listenedTo.has(master)) return;
  listenedTo.add(master);
  master.on('connect', (client: EventEmitter) => client.on('error', () => undefined));
}

/** Milliseconds without a statement after which a connection may have died, and the longest wait for the answer of such a one. */
const [SILENCE_MS, QUESTION_MS] = [5000, 400];

/** The last use of each connection that the library has given back. By the clock that advances while the machine is suspended. */
const lastUse = new WeakMap<Client, number>();

/** When a silent connection of a data source was last found to be dead. */
const lastDeath = new WeakMap<DataSource, number>();

/**
 * Takes a connection from the pool of the data source. One that was silent is asked first: a statement that is sent on a dead
 * connection fails, and cannot be sent again if it may have had an effect. A dead one is closed, and so are, without a question,
 * those that were silent for as long.
 */
export async function takeConnection(source: DataSource, timeoutMs: number): Promise<PooledConnection> {
  listenBetween(source);
  for (;;) {
    const runner = source.createQueryRunner();
    const client: Client = await runner.connect();
    const used = lastUse.get(client) ?? Infinity;
    if (used > machineTime() - SILENCE_MS) return { runner, client };
    if (used > (lastDeath.get(source) ?? 0)) {
      const answered = client.query('SELECT 1').then(
        () => true,
        () => false,
      );
      const wait = sleep(Math.min(QUESTION_MS, timeoutMs / 2), undefined, { ref: false });
      // After a blocked event loop, an answer that has already arrived is read first.
      const tooLate = wait.then(() => nextTurn(false));
      if (await Promise.race([answered, tooLate])) return { runner, client };
      lastDeath.set(source, machineTime());
    }
    void client.end().catch(() => undefined);
    await runner.release().catch(() => undefined);
  }
}

/** Gives a connection of {@link takeConnection} back to the pool. */
export async function giveBack({ runner, client }: PooledConnection): Promise<void> {
  lastUse.set(client, machineTime());
  await runner.release().catch(() => undefined);
}

/**
 * Runs the statements of the library on PostgreSQL, on the primary.
 *
 * Statements are plain SQL, because their locks, snapshots and clock reads matter. Here the error of an unreachable
 * database becomes `StoreUnavailable`, and work that PostgreSQL has rolled back because of a conflict is repeated.
 */
export class Database {
  private mayBeStandby = true;
  /** Statements that the engine cannot run. */
  private readonly unsupported = new Set<string>();

  /** @param prepares whether statements are prepared by name; until a prepared statement has failed */
  constructor(
    private readonly dataSource: DataSource | undefined,
    private readonly timeoutMs: number,
    private prepares = true,
  ) {}

  /** @throws AuthConfigError when the host has none */
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

  /** Whether the DataSource of the host has an entity, by its class or the table in its `@Entity()`. A verifying service may have none. */
  hasEntity(entity: EntityTarget<ObjectLiteral>): boolean {
    return this.dataSource?.hasMetadata(this.declared(entity)) ?? false;
  }

  /** The quoted table name of an entity, with the schema and the naming strategy of the host. */
  table(entity: EntityTarget<ObjectLiteral>): string {
    return quotedPath(this.source.getMetadata(this.declared(entity)).tablePath);
  }

  private declared(entity: EntityTarget<ObjectLiteral>): EntityTarget<ObjectLiteral> {
    const isNamed = (metadata: EntityMetadata): boolean => metadata.givenTableName === entity;
    return typeof entity === 'string' ? (this.dataSource?.entityMetadatas.find(isNamed)?.target ?? entity) : entity;
  }

  /** Runs one statement on a connection of the pool. */
  query: Sql = (statement, params = []) => this.connected(({ sql }) => sql(statement, params));

  /** As {@link query}, for columns of the host: they are parsed as in the host's own statements. */
  queryHost: Sql = (statement, params = []) => this.connected(({ sql }) => sql(statement, params, null));

  /** Runs `preferred`, and on an engine without one of its functions or operators (SQLSTATE 42883) from then on `other`. */
  async queryEither<Row>(preferred: string, other: string, params: unknown[]): Promise<Row[]> {
    try {
      if (!this.unsupported.has(preferred)) return await this.query<Row>(preferred, params);
    } catch (error) {
      if (!isMissingFunction(error)) throw error;
    }
    const rows = await this.query<Row>(other, params);
    this.unsupported.add(preferred);
    return rows;
  }

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

  /** Runs `work` with an entity manager on one connection, for the tables of the host: see {@link transaction}. */
  withManager<T>(work: (manager: EntityManager) => Promise<T>, once = false): Promise<T> {
    return this.connected(({ manager }) => work(manager), once);
  }

  /**
   * Runs `work` in one transaction on one connection. An error rolls the transaction back. After a rollback `work` may run
   * again: because of a conflict with other transactions, or once because a prepared statement has become invalid.
   *
   * @param work receives a function that runs statements in the transaction, and its entity manager for the tables of
   * the host. Its effects outside the transaction can be repeated
   * @param once because `work` may call code of the host: see {@link callsHost}
   * @param isSingle whether `work` is one statement: the commit is sent with it, and after its error has no effect
   */
  transaction<T>(
    work: (sql: Sql & ParsedSql, manager: EntityManager) => Promise<T>,
    once = false,
    isSingle = false,
  ): Promise<T> {
    if (this.outer) return this.connected(({ sql, manager }) => work(sql, manager));
    return this.connected(async ({ client, sql, manager, throwIfOver }) => {
      // The statement timeout releases the connection when a lock or a slow server exceeds the deadline.
      // READ COMMITTED, whatever the default of the host: a statement that waited for a lock reads the committed rows.
      const begin = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = ${this.timeoutMs}`;
      // The first statement is sent with it: one round trip less. Not with code of the host, whose cursors a pipeline refuses.
      const isAhead = !once && client.pipeline === false;
      if (isAhead) client.pipeline = true;
      const begun = client.query(begin);
      // It is awaited below. Without a pipeline, node-postgres gets one statement after the other.
      let turn: Promise<unknown> = begun.catch(() => undefined);
      try {
        if (!isAhead) await begun;
        const inOrder: ParsedSql = async <Row>(...of: Parameters<ParsedSql>) => {
          const rows = isAhead ? sql<Row>(...of) : turn.then(() => sql<Row>(...of));
          turn = rows.catch(() => undefined);
          await Promise.all([begun, rows]);
          return rows;
        };
        const working = work(inOrder, manager);
        const committed = isSingle && isAhead && client.query('COMMIT');
        const [result] = committed ? await Promise.all([working, committed]) : [await working];
        await begun;
        throwIfOver();
        if (!committed) await client.query('COMMIT');
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
    if (this.outer) return this.outer.step(this.timeoutMs, (on, throwIfOver) => work(this.on(on, throwIfOver, false)));
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
    const deadline = currentDeadline();
    const unanswered = deadline?.unanswered;
    // After the timeout, of this wait or of one around it, the caller has received a 503. No later statement may have an effect.
    const throwIfOver = (): void => {
      if (isOver || deadline?.unanswered !== unanswered) throw new StoreUnavailable('PostgreSQL');
    };
    const { runner, client } = await this.connection();
    let held: Client | undefined = client;
    let closing: Promise<void> | undefined;
    const run = async (): Promise<T> => {
      try {
        throwIfOver();
        return await work(this.on({ runner, client }, throwIfOver, prepares));
      } catch (error) {
        // The pool opens a new connection in its place, which may reach the new primary.
        if (isReadOnly(error)) void client.end().catch(() => undefined);
        throw error;
      } finally {
        held = undefined;
        // The pool must not reuse a connection that is being closed.
        await closing;
        await giveBack({ runner, client });
      }
    };
    try {
      return await withTimeout('PostgreSQL', this.timeoutMs, run());
    } finally {
      isOver = true;
      // `statement_timeout` ends statements of a reachable server before this timer fires.
      if (held) setTimeout(() => held && (closing = cancelAndClose(held)), this.timeoutMs).unref();
    }
  }

  /** Takes a connection of the pool. This wait has a separate limit, because a new connection takes several round trips. */
  private async connection(): Promise<PooledConnection> {
    const taking = takeConnection(this.source, this.timeoutMs);
    try {
      return await withTimeout('PostgreSQL', this.timeoutMs, taking);
    } catch (error) {
      // One that comes later returns to the pool.
      taking.then(giveBack, () => undefined);
      throw error;
    }
  }

  private get outer(): TransactionPart | undefined {
    return outerTransaction() && TransactionPart.current(this.dataSource);
  }

  private on({ runner, client }: PooledConnection, throwIfOver: () => void, prepares: boolean): Connection {
    const run = sqlOn(this.source, runner, client, prepares);
    const sql: ParsedSql = async (...statement) => {
      throwIfOver();
      const rows = await run(...statement);
      throwIfOver();
      return rows as never[];
    };
    return { client, throwIfOver, manager: runner.manager, sql };
  }
}

/** @param prepares whether statements are prepared by name: the planning of a join with a lock costs more than its execution */
export function sqlOn({ logger }: DataSource, runner: QueryRunner, client: Client, prepares: boolean): ParsedSql {
  return async (text, values = [], types = OWN_TYPES) => {
    logger.logQuery(text, values, runner);
    const name = prepares ? statementName(text) : undefined;
    return (await client.query({ name, text, values, types: types ?? undefined })).rows as never[];
  };
}

const ITEM = /"((?:[^"\\]|\\.)*)"|([^,{}]+)/g;

/** A byte of the output format `escape` of bytea. */
const ESCAPED = /\\(\\|[0-7]{3})/g;
const octet = (_: string, byte: string): string => (byte === '\\' ? byte : String.fromCharCode(parseInt(byte, 8)));

/** How the library reads the types of PostgreSQL, by their OID. Every other type is a text. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === 't',
  17: (text) =>
    text.startsWith('\\x') ? Buffer.from(text.slice(2), 'hex') : Buffer.from(text.replaceAll(ESCAPED, octet), 'latin1'),
  21: Number,
  23: Number,
  700: Number,
  701: Number,
  114: JSON.parse,
  3802: JSON.parse,
  // text[]
  1009: (text) =>
    Array.from(
      text.matchAll(ITEM),
      ([, quotes, plain]) => quotes?.replaceAll(/\\(.)/g, '$1') ?? (plain === 'NULL' ? null : plain),
    ),
  1114: (text) => new Date(text),
  1184: (text) => new Date(text),
};

/**
 * The parsers of the library's own statements. Without them, `types.setTypeParser` of the host would apply, as it does to the
 * statements that read the host's tables.
 */
const OWN_TYPES = { getTypeParser: (type: number) => PARSERS[type] ?? String };

const names = new Map<string, string>();

/** Derives the name from the statement, so that two data sources behind one connection pooler use the same name. */
export function statementName(text: string): string {
  const known = names.get(text) ?? `svc-${sha256(text).slice(0, 16)}`;
  names.set(text, known);
  return known;
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
