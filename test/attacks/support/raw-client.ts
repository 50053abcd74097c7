import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';

/** A request as an attacker writes it: the client adds, corrects and refuses nothing. */
export interface RawRequest {
  method?: string;
  path: string;
  headers?: OutgoingHttpHeaders;
  /** An object is sent as JSON. */
  body?: string | Buffer | object;
  /** Sends the body without a Content-Length. */
  chunked?: boolean;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** A client with a few connections to one host. Counts what it sends. */
export class RawClient {
  sent = 0;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 16 });

  constructor(readonly url: string) {}

  close(): void {
    this.agent.destroy();
  }

  send({ method = 'GET', path, headers = {}, body, chunked = false }: RawRequest): Promise<Answer> {
    this.sent++;
    const bytes = Buffer.isBuffer(body)
      ? body
      : Buffer.from(typeof body === 'object' ? JSON.stringify(body) : (body ?? ''));
    const isRaw = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
    const type = isRaw ? {} : { 'Content-Type': 'application/json' };
    const length = chunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': bytes.length };
    const { hostname, port } = new URL(this.url);
    // A header that a browser sends; no error response may allow the origin.
    const all = { Accept: 'text/html', ...type, ...(body !== undefined && length), ...headers };
    return new Promise((resolve, reject) => {
      const call = request({ hostname, port, method, path, headers: all, agent: this.agent }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('end', () =>
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
        response.once('error', reject);
      });
      call.once('error', (error) => reject(new Error(`${method} ${path.slice(0, 200)}: ${error.message}`)));
      if (body !== undefined) call.write(bytes);
      call.end();
    });
  }

  /**
   * Sends raw bytes and reads the response until the connection ends.
   *
   * @param ends whether the client ends the connection after these bytes
   */
  raw(bytes: string | Buffer, ends = true): Promise<string> {
    this.sent++;
    const { hostname, port } = new URL(this.url);
    return new Promise((resolve) => {
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString('latin1')));
      socket.once('close', () => resolve(text)).once('error', () => undefined);
      socket.write(bytes);
      if (ends) socket.end();
    });
  }
}

/** Maps items with at most 16 concurrent calls. */
export async function mapConcurrently<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const remaining = items.entries();
  const worker = async (): Promise<void> => {
    for (const [i, item] of remaining) results[i] = await work(item);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  return results;
}
