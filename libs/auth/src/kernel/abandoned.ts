import { connect } from 'node:net';

/** What of a node-postgres client is needed to give it up. */
export interface Abandonable {
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
export function abandon(client: Abandonable): void {
  const { host, port, processID, secretKey } = client;
  void client.end().catch(() => undefined);
  if (!host || !port || typeof processID !== 'number' || typeof secretKey !== 'number') return;
  const request = Buffer.alloc(16);
  [16, CANCEL_CODE, processID, secretKey].forEach((value, i) => request.writeInt32BE(value, i * 4));
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.on('error', () => undefined).setTimeout(PATIENCE_MS, () => socket.destroy());
  socket.end(request);
}
