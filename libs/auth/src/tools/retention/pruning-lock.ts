import type { DataSource } from 'typeorm';
import { sha256 } from '../../foundation/platform/crypto';
import { withTimeout } from '../../foundation/platform/deadline';

/**
 * Takes a lock until the transaction ends, without waiting, and returns one row; none if another transaction has the lock.
 * Schemas with tables of the same names have separate locks. Without a parameter, because the portal of a statement with parameters stays open in the transaction and keeps its snapshot.
 */
const tryLock = (name: string): string =>
  `SELECT 1 WHERE pg_try_advisory_xact_lock(hashtextextended('${sha256(name)} ' || coalesce(current_schema(), ''), 0))`;

/**
 * READ COMMITTED, so that the waiting transaction has no snapshot, and vacuum is not held back. The timeout replaces a
 * shorter one of the host, which would release the lock during the run. It ends the lock of a node that has disappeared
 * without closing its connection, before the run of the next day.
 */
const BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; SET LOCAL idle_in_transaction_session_timeout = '12h'";

/** Timeout in milliseconds for a new connection and the lock. No client waits for it. */
const TIMEOUT_MS = 10_000;

interface LockClient {
  on(event: 'error', listener: () => void): void;
  connect(): Promise<unknown>;
  query(text: string): Promise<{ rows: unknown[] }>;
  end(): Promise<void>;
}

/** A pool of node-postgres. Its options also connect a single client. */
interface ClientPool {
  Client?: new (options: unknown) => LockClient;
  options: unknown;
}

/**
 * Runs `work` while this process has the lock; resolves to null, without a run, while another process has it.
 *
 * The lock belongs to a transaction on a connection of its own. A session lock would not work behind a pooler, where
 * consecutive statements of one session can run on different connections of the server. A connection of the pool would
 * be missing for requests, and a pool of one connection would have none left for `work`. PostgreSQL releases the lock
 * when the connection closes, also when the process is killed. If only this connection breaks, `work` continues.
 *
 * @throws StoreUnavailable
 */
export async function whileLocked<T>(source: DataSource, name: string, work: () => Promise<T>): Promise<T | null> {
  const { Client, options } = (source.driver as unknown as { master: ClientPool }).master;
  // A driver other than node-postgres, such as one for tests. Concurrent runs are safe.
  if (!Client) return work();
  const client = new Client(options);
  client.on('error', () => undefined);
  const take = async (): Promise<boolean> => {
    await client.connect();
    await client.query(BEGIN);
    return (await client.query(tryLock(name))).rows.length > 0;
  };
  const release = async (): Promise<void> => {
    // Behind a pooler, the connection of the server is reused.
    await client.query('COMMIT');
    await client.end();
  };
  try {
    return (await withTimeout('PostgreSQL', TIMEOUT_MS, take())) ? await work() : null;
  } finally {
    await withTimeout('PostgreSQL', TIMEOUT_MS, release()).catch(() => void client.end().catch(() => undefined));
  }
}
