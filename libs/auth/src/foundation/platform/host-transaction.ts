import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import {
  BackgroundWork,
  type OuterTransaction,
  RequestScope,
  keepSurroundings,
  outerTransaction,
  repeatWhileUnavailable,
  runWithin,
  withTimeout,
} from './deadline';
import { AuthConfigError } from './errors';
import { type Client, type PooledConnection, cancelAndClose } from './pg-connection';

/** A client of node-postgres with the connection whose messages it reads. */
type WatchedClient = Client & { readonly connection?: EventEmitter };

/** Rows that show whether a part of a transaction was committed: no message of the server shows what a rollback to a savepoint undoes. */
export interface Marks {
  /** Writes a row with this id, a UUID, in the transaction of the caller. */
  mark(id: string): Promise<unknown>;
  /** Whether the row is committed. Waits for a transaction that has written it and has not ended. @throws StoreUnavailable */
  isMarked(id: string): Promise<boolean>;
}

interface Effect {
  /** Whether it runs if the call is not committed, instead of after its commit. */
  readonly isUndo: boolean;
  readonly what: string;
  readonly run: (committedAt: number) => Promise<unknown>;
}

const AWAIT = 'Await each call of the library in a transaction of the host.';

const PREPARED =
  'A transaction with calls of the library was prepared (PREPARE TRANSACTION). The library does not see its commit: denials and ' +
  'events of ended sessions do not follow. Commit it on its connection, or call the library after the commit.';

const open = new WeakMap<object, HostTransaction>();

/** @throws AuthConfigError in a transaction of the host, for a call that cannot be a part of it */
export function refuseWithin(call: string): void {
  if (outerTransaction()) throw refused(call);
}

const refused = (call: string): AuthConfigError =>
  new AuthConfigError(
    `${call} cannot be part of a transaction of the host. Call it before auth.within() or auth.transaction(), or after the ` +
      'commit. startSession, revoke, revokeAll, revokeOthers and registration.register can be part of it.',
  );

/** A part of an open transaction of the host: all calls in it, one call, or one step of a call. The parts of a part have turns. */
export class TransactionPart implements OuterTransaction {
  private turns: Promise<unknown> = Promise.resolve();
  private unsettled = 0;
  private isOver = false;
  private mark?: string;

  /** @param isOfCall whether it is a call that can be part of the transaction, or a part of one */
  constructor(
    readonly transaction: HostTransaction,
    private isOfCall = false,
  ) {}

  /**
   * The part in which the current call runs; undefined outside a transaction of the host.
   *
   * @throws AuthConfigError in one on another data source: a call would be a part of it only with some of its effects
   */
  static current(source: DataSource | undefined): TransactionPart | undefined {
    const outer = outerTransaction();
    if (!(outer instanceof TransactionPart)) return undefined;
    if (outer.transaction.source === source) return outer;
    throw new AuthConfigError('The transaction of the host is that of another application with @svc/auth.');
  }

  get started(): string[] {
    return this.transaction.started;
  }

  /**
   * Makes a call of the library. Its mark is written before its first statement: a COMMIT that the host sends during the call
   * commits the mark with what the call has done.
   */
  call<T>(work: () => Promise<T>): Promise<T> {
    return this.take(async (part) => {
      part.isOfCall = true;
      part.mark = await this.transaction.mark();
      return work();
    });
  }

  async take<T>(work: (part: TransactionPart) => Promise<T>): Promise<T> {
    if (this.isOver) throw new AuthConfigError(`The part of the transaction is over. ${AWAIT}`);
    this.unsettled++;
    const turn = this.turns.then(() => this.run(work)).finally(() => this.unsettled--);
    this.turns = turn.catch(() => undefined);
    return turn;
  }

  /**
   * Takes a turn for work on the connection. Without an answer the connection is closed: no later statement may have an effect,
   * and the transaction cannot commit.
   *
   * @param ms timeout in milliseconds
   * @throws AuthConfigError outside a call: a service of the library that the host has injected, or has kept, comes here
   */
  async step<T>(ms: number, work: (connection: PooledConnection, throwIfOver: () => void) => Promise<T>): Promise<T> {
    if (!this.isOfCall) throw refused('This call');
    const { connection, guarded, throwIfOver } = this.transaction;
    let isAnswered = false;
    const turn = this.take(() => work(guarded, throwIfOver)).finally(() => {
      isAnswered = true;
    });
    try {
      return await withTimeout('PostgreSQL', ms, turn);
    } finally {
      if (!isAnswered) void cancelAndClose(connection.client);
    }
  }

  /** Resolves when no call runs. Never rejects. */
  settled(): Promise<unknown> {
    return this.turns;
  }

  async after(what: string, run: Effect['run'], isUndo = false): Promise<void> {
    if (!this.mark) throw new Error('Only a call has effects after the commit.');
    this.transaction.follow(this.mark, { what, run, isUndo });
  }

  private run<T>(work: (part: TransactionPart) => Promise<T>): Promise<T> {
    const part = new TransactionPart(this.transaction, this.isOfCall);
    return this.transaction.inSavepoint(async () => {
      try {
        const result = await runWithin(part, () => work(part));
        // A call that nothing waits for would not report its error.
        if (part.unsettled) throw new AuthConfigError(AWAIT);
        return result;
      } finally {
        part.isOver = true;
        await part.turns;
      }
    });
  }
}

/**
 * An open transaction of the host in which calls of the library run, each as a savepoint. What must follow the commit is
 * collected, and runs when the server reports the commit on the connection, whichever code sends it.
 */
export class HostTransaction {
  readonly started: string[] = [];
  private readonly top = new TransactionPart(this);
  private readonly effects = new Map<string, Effect[]>();
  /** The connection for statements of the library. */
  readonly guarded: PooledConnection;
  private savepoints = 0;
  private isOver = false;
  private readonly leaveSurroundings = keepSurroundings();

  /** After the end of the transaction: resolves when what follows it has run. */
  settled?: Promise<void>;

  private constructor(
    readonly source: DataSource,
    readonly connection: PooledConnection,
    private readonly marks: Marks,
  ) {
    this.guarded = { ...connection, client: refusing(connection.client, () => this.refusal) };
    this.watch();
  }

  /**
   * The transaction that is open on a connection of the host.
   *
   * @param given the entity manager of a transaction, or a client of node-postgres
   * @throws AuthConfigError without a transaction, and for a manager of another data source
   */
  static async on(given: object, source: DataSource, marks: Marks): Promise<HostTransaction> {
    // `dataSource` is the name since TypeORM 1.0. A client of node-postgres has a `connection`, too.
    const { queryRunner, dataSource, connection = dataSource } = (given ?? {}) as Partial<EntityManager>;
    const isManager = typeof connection?.createQueryRunner === 'function';
    if (isManager && connection !== source)
      throw new AuthConfigError('The entity manager is not one of the data source of the library (option dataSource).');
    if (isManager && !queryRunner?.isTransactionActive)
      throw new AuthConfigError('The entity manager has no open transaction. Pass the manager of the transaction.');
    const client = (isManager ? await queryRunner!.connect() : given) as WatchedClient;
    if (typeof client?.connection?.on !== 'function')
      throw new AuthConfigError(
        'The connection is neither the entity manager of a transaction nor a client of node-postgres. A pool or a client of pg-native is none.',
      );
    const known = open.get(client);
    if (known) return known;
    const runner = isManager ? queryRunner! : runnerOn(source, client);
    const opened = new HostTransaction(source, { client, runner }, marks);
    open.set(client, opened);
    return opened;
  }

  /** Runs calls of the library in the transaction. An error undoes what they have done, not what the host has done before. */
  within<T>(work: () => Promise<T>): Promise<T> {
    const outer = outerTransaction();
    const part = outer instanceof TransactionPart && outer.transaction === this ? outer : this.top;
    return part.take(work);
  }

  /** Writes a mark in the current part. @returns its id */
  async mark(): Promise<string> {
    const id = randomUUID();
    await this.marks.mark(id);
    return id;
  }

  /** Runs an effect after the commit, if the mark is committed. */
  follow(mark: string, effect: Effect): void {
    if (this.isOver) this.begin(new Map([[mark, [effect]]]), true);
    else this.effects.set(mark, [...(this.effects.get(mark) ?? []), effect]);
  }

  /** @throws AuthConfigError after the end of the transaction: its connection may serve another request */
  readonly throwIfOver = (): void => {
    const { refusal } = this;
    if (refusal) throw refusal;
  };

  private get refusal(): AuthConfigError | undefined {
    return this.isOver ? new AuthConfigError(`The transaction of the host is over. ${AWAIT}`) : undefined;
  }

  /** Runs work that has settled before the savepoint ends. */
  async inSavepoint<T>(work: () => Promise<T>): Promise<T> {
    this.throwIfOver();
    const { client } = this.guarded;
    const name = `svc_${++this.savepoints}`;
    await client.query(`SAVEPOINT ${name}`).catch((error: { code?: string }) => {
      // no_active_sql_transaction
      if (error.code !== '25P01') throw error;
      throw new AuthConfigError('The client has no open transaction. Send BEGIN first.');
    });
    try {
      const result = await work();
      this.throwIfOver();
      await client.query(`RELEASE ${name}`);
      return result;
    } catch (error) {
      if (!this.isOver)
        await client.query(`ROLLBACK TO ${name}; RELEASE ${name}`).catch(() => {
          if (!this.isOver) void this.connection.client.end().catch(() => undefined);
        });
      throw error;
    }
  }

  /** Reads the messages of the server on the connection: they show each commit, also one in plain SQL. */
  private watch(): void {
    const { connection } = this.connection.client as WatchedClient;
    const listeners = {
      // PostgreSQL answers ROLLBACK to the COMMIT of a failed transaction.
      commandComplete: ({ text }: { text: string }) => {
        if (text === 'COMMIT') finish(true, performance.now());
        if (text === 'PREPARE TRANSACTION') new Logger('Auth').error(PREPARED);
      },
      readyForQuery: ({ status }: { status: string }) => status === 'I' && finish(false),
      // A lost connection may have committed: the marks show it.
      end: () => finish(true),
    };
    const finish = (mayBeCommitted: boolean, committedAt?: number): void => {
      if (this.isOver) return;
      this.isOver = true;
      open.delete(this.connection.client);
      void this.top.settled().then(this.leaveSurroundings);
      for (const [name, listener] of Object.entries(listeners)) connection!.off(name, listener);
      this.settled = this.begin(this.effects, mayBeCommitted, committedAt);
    };
    // Before the client, which sends its next statement when it reads `readyForQuery`.
    for (const [name, listener] of Object.entries(listeners)) connection!.prependListener(name, listener);
  }

  private begin(effects: ReadonlyMap<string, Effect[]>, mayBeCommitted: boolean, committedAt?: number): Promise<void> {
    // The message may arrive in the surroundings of any request.
    const done = RequestScope.detached(() => this.carryOut(effects, mayBeCommitted, committedAt));
    BackgroundWork.ofProcess.add(done);
    return done;
  }

  /**
   * Runs effects beside each other: an event or an end of sessions does not wait for a denial that fails.
   *
   * @param committedAt unknown if the connection was lost: then the commit was over when its mark is read
   */
  private async carryOut(
    effects: ReadonlyMap<string, Effect[]>,
    mayBeCommitted: boolean,
    committedAt?: number,
  ): Promise<void> {
    const running: Promise<unknown>[] = [];
    for (const [mark, marked] of effects) {
      const isCommitted = mayBeCommitted && (await attempted(marked[0]!.what, () => this.marks.isMarked(mark)));
      const due = marked.filter(({ isUndo }) => isUndo === !isCommitted && isCommitted !== undefined);
      const moment = committedAt ?? performance.now();
      running.push(...due.map(({ what, run }) => attempted(what, () => run(moment))));
    }
    await Promise.all(running);
  }
}

/** A query of node-postgres, which the client sends when all earlier ones are answered. */
interface Query {
  submit(connection: unknown): Error | null | undefined;
}

type QueryType = new (config: object, callback: (error: Error | null, result: never) => void) => Query;

/**
 * A client whose statements are refused when it is their turn after the end of the transaction. A COMMIT or ROLLBACK of the host
 * may stand before them in the queue of the client: they would run, and commit, outside the transaction.
 */
function refusing(client: Client, refusal: () => Error | undefined): Client {
  const { Query: type } = client.constructor as { Query?: QueryType };
  if (!type) return client;
  const query = (config: string | object): Promise<never> =>
    new Promise((resolve, reject) => {
      const given = typeof config === 'string' ? { text: config } : { ...config };
      const sent = new type(given, (error, result) => (error ? reject(error) : resolve(result)));
      const submit = sent.submit.bind(sent);
      void client.query(Object.assign(sent, { submit: (to: unknown) => refusal() ?? submit(to) }) as never);
    });
  return Object.assign(Object.create(client) as Client, { query });
}

/** Repeats work while a store is unavailable. A last error is logged. */
const attempted = <T>(what: string, run: () => Promise<T>): Promise<T | void> =>
  repeatWhileUnavailable(run).catch((error: unknown) =>
    new Logger('Auth').error(`${what} failed: ${(error as Error)?.message}`),
  );

/** A query runner on a client of the host, which keeps the client and ends the transaction. */
const runnerOn = (source: DataSource, client: Client): QueryRunner =>
  // With its depth, a transaction in it is a savepoint.
  Object.assign(source.createQueryRunner(), {
    databaseConnection: client,
    isTransactionActive: true,
    transactionDepth: 1,
  });
