import { Logger } from '@nestjs/common';
import type { EventEmitter } from 'node:events';
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import {
  BackgroundWork,
  type OuterTransaction,
  RequestScope,
  hasTurn,
  outerTransaction,
  repeatWhileUnavailable,
  runWithin,
  withTimeout,
} from './deadline';
import { AuthConfigError } from './errors';
import { type Client, type PooledConnection, cancelAndClose } from './pg-connection';

/** A client of node-postgres with the connection whose messages it reads. */
type WatchedClient = Client & { readonly connection?: EventEmitter };

interface Effect {
  readonly what: string;
  readonly run: (isPartial: boolean) => Promise<unknown>;
}

const open = new WeakMap<object, HostTransaction>();

/** @throws AuthConfigError in a transaction of the host, for a call that cannot be a part of it */
export function refuseWithin(call: string): void {
  if (!outerTransaction()) return;
  throw new AuthConfigError(
    `${call} cannot be part of a transaction of the host. Call it before auth.within() or auth.transaction(), or after the ` +
      'commit. startSession, revoke, revokeAll, revokeOthers and registration.register can be part of it.',
  );
}

/**
 * An open transaction of the host in which calls of the library run. Each step of a call is a savepoint, and the steps of
 * concurrent calls have turns. What must follow the commit is collected, and runs when the server reports the commit on the
 * connection, whichever code sends it.
 */
export class HostTransaction implements OuterTransaction {
  private readonly effects: Effect[] = [];
  private turns: Promise<unknown> = Promise.resolve();
  private calls: Promise<unknown> = Promise.resolve();
  private savepoints = 0;
  private isOver = false;
  private isPartial = false;
  private resolve!: () => void;

  /** Resolves when the transaction has ended, and what follows its commit has run. */
  readonly settled = new Promise<void>((resolve) => (this.resolve = resolve));

  private constructor(
    readonly source: DataSource,
    private readonly connection: PooledConnection,
  ) {
    this.watch();
  }

  /**
   * The transaction that is open on a connection of the host.
   *
   * @param given the entity manager of a transaction, or a client of node-postgres
   * @throws AuthConfigError without a transaction, and for a manager of another data source
   */
  static async on(given: object, source: DataSource): Promise<HostTransaction> {
    const { queryRunner: runner } = given as EntityManager;
    // `dataSource` is the name since TypeORM 1.0.
    const { dataSource, connection } = given as EntityManager;
    const isClient = typeof (given as Client).query === 'function' && !('queryRunner' in given) && !dataSource;
    if (!isClient && (dataSource ?? connection) !== source)
      throw new AuthConfigError('The entity manager is not one of the data source of the library (option dataSource).');
    if (!isClient && !runner?.isTransactionActive)
      throw new AuthConfigError('The entity manager has no open transaction. Pass the manager of the transaction.');
    const client: WatchedClient = isClient ? (given as Client) : await runner!.connect();
    if (typeof client.connection?.on !== 'function')
      throw new AuthConfigError(
        'The connection of the transaction is not a client of node-postgres, or one of pg-native.',
      );
    const known = open.get(client);
    if (known) return known;
    const opened = new HostTransaction(source, { client, runner: isClient ? runnerOn(source, client) : runner! });
    open.set(client, opened);
    return opened;
  }

  /** Runs calls of the library in the transaction. An error undoes what they have done, not what the host has done before. */
  within<T>(work: () => Promise<T>): Promise<T> {
    const call = async (): Promise<T> => {
      const kept = this.effects.length;
      try {
        return await this.undone(() => runWithin(this, false, work));
      } catch (error) {
        this.effects.length = kept;
        throw error;
      }
    };
    if (outerTransaction() === this) return call();
    const called = this.calls.then(call);
    this.calls = called.catch(() => undefined);
    return called;
  }

  /**
   * Runs `work` on the connection, in a savepoint. Without an answer the connection is closed: no later statement may have an
   * effect, and the transaction cannot commit.
   *
   * @param ms timeout in milliseconds
   */
  async step<T>(ms: number, work: (connection: PooledConnection, throwIfOver: () => void) => Promise<T>): Promise<T> {
    const run = (): Promise<T> => this.undone(() => work(this.connection, this.throwIfOver));
    // Work that has the turn, such as a subscriber of the host, does not wait for itself.
    if (hasTurn()) return run();
    let isAnswered = false;
    const turn = this.turns
      .then(() => runWithin(this, true, run))
      .finally(() => {
        isAnswered = true;
      });
    this.turns = turn.catch(() => undefined);
    try {
      return await withTimeout('PostgreSQL', ms, turn);
    } finally {
      if (!isAnswered) void cancelAndClose(this.connection.client);
    }
  }

  after(what: string, run: Effect['run']): void {
    this.throwIfOver();
    this.effects.push({ what, run });
  }

  /** @throws AuthConfigError after the end of the transaction: its connection may serve another request */
  readonly throwIfOver = (): void => {
    if (this.isOver)
      throw new AuthConfigError('The transaction of the host is over. Await each call of the library in it.');
  };

  private async undone<T>(work: () => Promise<T>): Promise<T> {
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
    let last = '';
    const listeners = {
      // PostgreSQL answers ROLLBACK to the COMMIT of a failed transaction.
      commandComplete: ({ text }: { text: string }) => {
        last = text;
        if (text === 'COMMIT') finish(true);
      },
      readyForQuery: ({ status }: { status: string }) => {
        if (status === 'I') finish(false);
        // ROLLBACK TO of the host. That of `undone` is followed by RELEASE.
        else if (last === 'ROLLBACK') this.isPartial = true;
        last = '';
      },
      // A lost connection may have committed. What follows reads the rows first.
      end: () => finish(true, true),
    };
    const finish = (isCommitted: boolean, isPartial = this.isPartial): void => {
      if (this.isOver) return;
      this.isOver = true;
      open.delete(this.connection.client);
      for (const [name, listener] of Object.entries(listeners)) connection!.off(name, listener);
      const effects = isCommitted ? this.effects : [];
      // The message may arrive in the surroundings of any request.
      const done = RequestScope.detached(() => carryOut(effects, isPartial));
      BackgroundWork.ofProcess.add(done);
      void done.then(this.resolve);
    };
    for (const [name, listener] of Object.entries(listeners)) connection!.on(name, listener);
  }
}

async function carryOut(effects: readonly Effect[], isPartial: boolean): Promise<void> {
  for (const { what, run } of effects) {
    await repeatWhileUnavailable(() => run(isPartial)).catch((error: unknown) =>
      new Logger('Auth').error(`${what} failed: ${(error as Error)?.message}`),
    );
  }
}

/** A query runner on a client of the host, which keeps the client and ends the transaction. */
const runnerOn = (source: DataSource, client: Client): QueryRunner =>
  Object.assign(source.createQueryRunner(), { databaseConnection: client, isTransactionActive: true });
