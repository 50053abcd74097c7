import type { AuthModuleOptions } from '@svc/auth';
import { SecurityEventDelivery } from '@svc/auth/operators';
import { generateKeyPairSync } from 'node:crypto';
import { type IncomingHttpHeaders, type Server, type ServerResponse, createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { TestApp, claimsOf } from '../hosts/app';

/** The claims of a token that a receiver got. */
export interface Received {
  readonly jti: string;
  readonly sub_id: { sub?: string; user?: { sub: string }; session?: { id: string } };
  readonly events: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** A receiver of Security Event Tokens (RFC 8935) on loopback. */
export class EventReceiver {
  readonly requests: { response: ServerResponse; headers: IncomingHttpHeaders; token: string; claims: Received }[] = [];
  /** The tokens that were answered with 202. */
  readonly accepted: Received[] = [];
  /** The requests that have no answer yet. */
  readonly open = new Set<ServerResponse>();
  /** The largest number of them at a time. */
  most = 0;
  answer: (response: ServerResponse, token: Received) => unknown = this.accept;
  private readonly server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    this.open.add(response);
    this.most = Math.max(this.most, this.open.size);
    response.on('close', () => this.open.delete(response));
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const token = Buffer.concat(parts).toString();
      const claims = claimsOf(token) as unknown as Received;
      this.requests.push({ response, headers: request.headers, token, claims });
      this.answer(response, claims);
    });
  });
  private port = 0;

  /** One receiver for a file. Before each test it is empty and accepts everything. */
  static forFile(): EventReceiver {
    const receiver = new EventReceiver();
    beforeAll(() => receiver.start());
    beforeEach(() => receiver.reset());
    afterAll(() => receiver.stop());
    return receiver;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  reset(): void {
    this.requests.length = 0;
    this.accepted.length = 0;
    this.most = 0;
    this.answer = this.accept;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}/events`;
  }

  accept(response: ServerResponse, token: Received): void {
    this.accepted.push(token);
    response.writeHead(202).end();
  }

  /** Accepts what waits for an answer, and all that follows. */
  acceptAll(): void {
    this.answer = this.accept;
    for (const { response, claims } of this.requests.filter((one) => this.open.has(one.response)))
      this.accept(response, claims);
  }

  /** Answers with a status, and the body of RFC 8935 §2.3 where there is a code. */
  refuse = (status: number, err?: string) => (response: ServerResponse) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(err && JSON.stringify({ err }));
}

const { publicKey, privateKey } = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

export const ISSUER = 'https://auth.example.com';
export const RECEIVER_AUDIENCE = 'https://events.example.com';

/** Options of a host that delivers its events to a receiver. */
export const deliveringTo = (
  { endpoint }: { readonly endpoint: string },
  { features, ...options }: Partial<AuthModuleOptions> = {},
): Partial<AuthModuleOptions> => ({
  issuer: ISSUER,
  algorithm: 'ES256',
  keys: { active: 'k1', private: privateKey, public: { k1: publicKey } },
  features: { securityEventTokens: true, ...features },
  securityEvents: {
    receivers: [
      { name: 'crm', endpoint, audience: RECEIVER_AUDIENCE, authorization: async () => 'Bearer of-the-receiver' },
    ],
  },
  ...options,
});

/** Delivers what is due, after all events of the requests so far are stored. */
export async function deliver(t: TestApp): Promise<void> {
  await t.auth.settled();
  await t.app.get(SecurityEventDelivery).deliver();
}

/** The stored tokens in their order. */
export const storedEvents = (
  t: TestApp,
): Promise<{ user: string; attempts: number; failure: string | null; isDead: boolean }[]> =>
  t.database.query(
    `SELECT user_id AS user, attempts, failure, dead_at IS NOT NULL AS "isDead" FROM svc_security_events ORDER BY position`,
  );

/** The name of an event and its details. */
export const eventOf = ({ events }: Received): [name: string, details: Readonly<Record<string, unknown>>] => {
  const [[uri, details] = []] = Object.entries(events);
  return [uri!.split('/').at(-1)!, details!];
};
