import { Agent, request } from 'node:http';

/** A response and its duration in milliseconds. */
export interface Answer {
  status: number;
  text: string;
  milliseconds: number;
}

/** What a request sends besides its method and path. */
export interface Sent {
  token?: string;
  body?: object;
  /** The client address, for a server behind a proxy. */
  from?: string;
}

/** Sends requests over a few persistent connections. */
export class Client {
  private readonly agent: Agent;

  constructor(
    private readonly url: string,
    connections: number,
  ) {
    this.agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Sends one request and accepts any status. */
  send(method: string, path: string, { token, body, from }: Sent = {}): Promise<Answer> {
    const start = performance.now();
    const payload = body && JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const sent = request(this.url + path, {
        method,
        agent: this.agent,
        headers: {
          ...(token && { authorization: `Bearer ${token}` }),
          ...(from && { 'x-forwarded-for': from }),
          ...(payload && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
        },
      });
      sent.once('error', reject).once('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.once('error', reject).once('end', () => {
          resolve({ status: response.statusCode!, text, milliseconds: performance.now() - start });
        });
      });
      sent.setTimeout(20_000, () => sent.destroy(new Error(`${method} ${path} was not answered`)));
      sent.end(payload);
    });
  }

  /** Sends one request and requires a status. @throws for any other status */
  async expect(status: number, method: string, path: string, sent: Sent = {}): Promise<Answer> {
    const answer = await this.send(method, path, sent);
    if (answer.status === status) return answer;
    throw new Error(`${method} ${path} answered ${answer.status} instead of ${status}: ${answer.text}`);
  }

  close(): void {
    this.agent.destroy();
  }
}
