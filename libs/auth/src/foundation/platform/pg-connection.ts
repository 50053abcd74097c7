import { connect } from 'node:net';
import type { QueryRunner } from 'typeorm';

/** A client or pool of node-postgres. Unlike `query` of TypeORM, it can prepare a statement by name. */
export interface PreparingClient {
  query(config: {
    name?: string;
    text: string;
    values: unknown[];
    types?: object;
  }): Promise<{ rows: Record<string, unknown>[] }>;
}

/** A client of node-postgres. */
export interface Client extends PreparingClient, CancellableClient {
  query(text: string): Promise<unknown>;
  query(...config: Parameters<PreparingClient['query']>): ReturnType<PreparingClient['query']>;
}

/** A connection that was taken from the pool of a data source. */
export interface PooledConnection {
  readonly runner: QueryRunner;
  readonly client: Client;
}

/** The part of a node-postgres client that {@link cancelAndClose} uses. */
export interface CancellableClient {
  /** Whether queries are sent before the answers to earlier ones. Undefined in a version of node-postgres that cannot do it. */
  pipeline?: boolean;
  readonly host?: string;
  readonly port?: number;
  readonly processID?: number | null;
  readonly secretKey?: number | Buffer | null;
  end(): Promise<void>;
}

/** PostgreSQL's CancelRequest (protocol 3.0, "Canceling Requests in Progress"). */
const CANCEL_CODE = 80877102;

/**
 * Timeout of the cancel request in milliseconds, after which the connection is closed. No request waits for it, but the
 * connection keeps its place in the pool.
 */
const CANCEL_TIMEOUT_MS = 250;

/**
 * Closes a connection on which a statement was not answered, so that the pool opens a new one: the server may be
 * unreachable without an error on the connection. If the server is reachable, it cancels the statement first. Otherwise
 * the statement would wait until its lock is released, and so would the statement of every later connection. A pooler
 * cancels only the statement of a connection that is still open.
 */
export async function cancelAndClose(client: CancellableClient): Promise<void> {
  await cancel(client);
  // Otherwise node-postgres waits for the answers that are missing, before it closes.
  if (client.pipeline) client.pipeline = false;
  void client.end().catch(() => undefined);
}

function cancel({ host, port, processID, secretKey }: CancellableClient): Promise<void> {
  if (!host || !port || typeof processID !== 'number' || typeof secretKey !== 'number') return Promise.resolve();
  const request = Buffer.alloc(16);
  [16, CANCEL_CODE, processID, secretKey].forEach((value, i) => request.writeInt32BE(value, i * 4));
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  return new Promise((resolve) => {
    socket.on('error', () => undefined).on('close', () => resolve());
    socket.setTimeout(CANCEL_TIMEOUT_MS, () => socket.destroy()).resume();
    // The server closes the connection. A pooler forgets the request of a client that closes it first.
    socket.write(request);
  });
}
