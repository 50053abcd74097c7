import { connect } from 'node:net';
import { sha256 } from './crypto';

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
