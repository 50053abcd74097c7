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
  readonly what: string;
  readonly run: () => Promise<unknown>;
}

const AWAIT = 'Await each call of the library in a transaction of the host.';

const open = new WeakMap<object, HostTransaction>();

/** @throws AuthConfigError in a transaction of the host, for a call that cannot be a part of it */
export function refuseWithin(call: string): void {
  if (!outerTransaction()) return;
  throw new AuthConfigError(
    `${call} cannot be part of a transaction of the host. Call it before auth.within() or auth.transaction(), or after the ` +
      'commit. startSession, revoke, revokeAll, revokeOthers and registration.register can be part of it.',
  );
}

/** A part of an open transaction of the host: all calls in it, one call, or one step of a call. The parts of a part have turns. */
export class TransactionPart implements OuterTransaction {
  private turns: Promise<unknown> = Promise.resolve();
  private unsettled = 0;
  private isOver = false;
  private marked?: Promise<string>;

  constructor(readonly transaction: HostTransaction) {}

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

  async take<T>(work: () => Promise<T>): Promise<T> {
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
   */
  async step<T>(ms: number, work: (connection: PooledConnection, throwIfOver: () => void) => Promise<T>): Promise<T> {
    const { connection, throwIfOver } = this.transaction;
    let isAnswered = false;
    const turn = this.take(() => work(connection, throwIfOver)).finally(() => {
      isAnswered = true;
    });
    try {
      return await withTimeout('PostgreSQL', ms, turn);
    } finally {
      if (!isAnswered) void cancelAndClose(connection.client);
    }
  }

  async after(what: string, run: Effect['run']): Promise<void> {
    this.marked ??= this.transaction.mark();
    this.transaction.follow(await this.marked, { what, run });
  }

  private run<T>(work: () => Promise<T>): Promise<T> {
    const part = new TransactionPart(this.transaction);
    return this.transaction.inSavepoint(async () => {
      try {
        const result = await runWithin(part, work);
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
  private savepoints = 0;
  private isOver = false;

  /** After the end of the transaction: resolves when what follows its commit has run. */
  settled?: Promise<void>;

  private constructor(
    readonly source: DataSource,
    readonly connection: PooledConnection,
    private readonly marks: Marks,
  ) {
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
    const { queryRunner, dataSource, connection = dataSource } = given as Partial<EntityManager>;
    const isManager = typeof connection?.createQueryRunner === 'function';
    if (isManager && connection !== source)
      throw new AuthConfigError('The entity manager is not one of the data source of the library (option dataSource).');
    if (isManager && !queryRunner?.isTransactionActive)
      throw new AuthConfigError('The entity manager has no open transaction. Pass the manager of the transaction.');
    const client = (isManager ? await queryRunner!.connect() : given) as WatchedClient;
    if (typeof client.connection?.on !== 'function')
      throw new AuthConfigError(
        'The connection is neither the entity manager of a transaction nor a client of node-postgres. A pool or a client of pg-native is none.',
      );
    const known = open.get(client);
    if (known) return known;
    const runner = isManager ? queryRunner! : runnerOn(source, client);
    const opened = new HostTransaction(source, { client, runner }, marks);
    open.set(client, opened);
    keepSurroundings();
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
    this.throwIfOver();
    this.effects.set(mark, [...(this.effects.get(mark) ?? []), effect]);
  }

  /** @throws AuthConfigError after the end of the transaction: its connection may serve another request */
  readonly throwIfOver = (): void => {
    if (this.isOver) throw new AuthConfigError(`The transaction of the host is over. ${AWAIT}`);
  };

  /** Runs work that has settled before the savepoint ends. */
  async inSavepoint<T>(work: () => Promise<T>): Promise<T> {
    this.throwIfOver();
    const { client } = this.connection;
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
        await client
          .query(`ROLLBACK TO ${name}; RELEASE ${name}`)
          .catch(() => void client.end().catch(() => undefined));
      throw error;
    }
  }

  /** Reads the messages of the server on the connection: they show each commit, also one in plain SQL. */
  private watch(): void {
    const { connection } = this.connection.client as WatchedClient;
    const listeners = {
      // PostgreSQL answers ROLLBACK to the COMMIT of a failed transaction.
      commandComplete: ({ text }: { text: string }) => text === 'COMMIT' && finish(true),
      readyForQuery: ({ status }: { status: string }) => status === 'I' && finish(false),
      // A lost connection may have committed: the marks show it.
      end: () => finish(true),
    };
    const finish = (mayBeCommitted: boolean): void => {
      if (this.isOver) return;
      this.isOver = true;
      open.delete(this.connection.client);
      for (const [name, listener] of Object.entries(listeners)) connection!.off(name, listener);
      // The message may arrive in the surroundings of any request.
      this.settled = RequestScope.detached(() => (mayBeCommitted ? this.carryOut() : Promise.resolve()));
      BackgroundWork.ofProcess.add(this.settled);
    };
    for (const [name, listener] of Object.entries(listeners)) connection!.on(name, listener);
  }

  private async carryOut(): Promise<void> {
    for (const [mark, effects] of this.effects) {
      const isCommitted = await attempted(effects[0]!.what, () => this.marks.isMarked(mark));
      if (isCommitted) for (const { what, run } of effects) await attempted(what, run);
    }
  }
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
