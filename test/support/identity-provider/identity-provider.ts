import { type KeyObject, createHmac, sign } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type SigningKey, signingKey } from '../hosts/key-server';
import { type OidcProvider, newProvider } from './oidc-provider';

/** A person with an account at the provider, by the subject. */
export interface Person {
  email?: string;
  email_verified?: boolean | string;
  name?: string;
}

/** How the person signs in at the provider. */
export interface SignedIn {
  subject: string;
  amr?: string[];
  acr?: string;
}

export type Endpoint = 'discovery' | 'auth' | 'token' | 'jwks' | 'userinfo';

const PATHS: Readonly<Record<Endpoint, string>> = {
  discovery: '/.well-known/openid-configuration',
  auth: '/auth',
  token: '/token',
  jwks: '/jwks',
  userinfo: '/me',
};

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

export interface ProviderClient {
  client_id: string;
  client_secret?: string;
  [metadata: string]: unknown;
}

/** What the provider does wrong. */
interface Wrongs {
  /** Claims of the ID token that are replaced; undefined removes one. */
  claims: Record<string, unknown>;
  /** Members of the header of the ID token that are replaced. With `alg`, `none` or an HMAC with the client's secret is used. */
  header: Record<string, unknown>;
  /** Members of the discovery document that are replaced. */
  discovery: Record<string, unknown>;
  /** The key of the ID token; one that is not published is the key of an attacker. */
  key?: SigningKey;
}

export const CLIENT_SECRET = 'the-secret-of-the-client-at-the-provider';

/** A page of the application that gets the answer. The provider needs no server there. */
export const CALLBACK = 'https://app.example.com/signed-in';

export const CLIENTS: ProviderClient[] = [
  { client_id: 'app', client_secret: CLIENT_SECRET, redirect_uris: [CALLBACK, 'https://app.example.com/linked'] },
];

/**
 * A real OpenID provider on loopback. Each visitor of the address of its sign-in is signed in at once, as {@link signedIn} says.
 * Its answers can be made wrong, held back or replaced.
 */
export class IdentityProviderHost {
  readonly people = new Map<string, Person>();
  signedIn: SignedIn = { subject: 'ada' };
  wrong: Wrongs = { claims: {}, header: {}, discovery: {} };
  /** The requests since the last reset. */
  requests: Endpoint[] = [];
  /** The published keys; the first signs. */
  keys: SigningKey[];
  private readonly first = signingKey('first');
  private readonly answers = new Map<Endpoint, Answer>();
  private readonly events = new Map<Endpoint, () => unknown>();
  private readonly server: Server;
  private provider!: OidcProvider;
  private isRunning = false;
  private port = 0;

  private constructor(private readonly clients: readonly ProviderClient[]) {
    this.keys = [this.first];
    this.server = createServer((request, response) => void this.serve(request, response));
    this.reset();
  }

  /** @param clients the applications that know the provider; by default {@link CLIENTS} */
  static async start(clients: readonly ProviderClient[] = CLIENTS): Promise<IdentityProviderHost> {
    const host = new IdentityProviderHost(clients);
    await host.listen(0);
    host.provider = newProvider(host.issuer, {
      clients: [...clients],
      key: { ...host.first.privateKey.export({ format: 'jwk' }), kid: 'first', use: 'sig', alg: 'ES256' },
      claimsOf: (subject) => ({ ...host.people.get(subject) }),
    });
    return host;
  }

  private listen(port: number): Promise<void> {
    this.isRunning = true;
    return new Promise((resolve) =>
      this.server.listen(port, '127.0.0.1', () => {
        this.port = (this.server.address() as AddressInfo).port;
        resolve();
      }),
    );
  }

  get issuer(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Everything as after the start; sessions at the provider stay. */
  reset(): void {
    this.people.clear();
    this.people.set('ada', { email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' });
    this.signedIn = { subject: 'ada' };
    this.wrong = { claims: {}, header: {}, discovery: {} };
    this.requests = [];
    this.keys = [this.first];
    this.answers.clear();
    this.events.clear();
  }

  /** Replaces the answers of an endpoint; without an answer, restores them. */
  answer(endpoint: Endpoint, answer?: Answer): void {
    if (answer) this.answers.set(endpoint, answer);
    else this.answers.delete(endpoint);
  }

  /** Does something before each answer of an endpoint. */
  before(endpoint: Endpoint, event: () => unknown): void {
    this.events.set(endpoint, event);
  }

  /** Holds requests to an endpoint back. @returns resolves when the first has arrived */
  hold(endpoint: Endpoint): Promise<void> {
    return new Promise((resolve) => this.answer(endpoint, () => resolve()));
  }

  /** Signs with a new key. The old one is not published any more. */
  rotateKeys(kid: string): void {
    this.keys = [signingKey(kid)];
  }

  /** No connection is accepted until {@link up}. */
  async down(): Promise<void> {
    this.isRunning = false;
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  up(): Promise<void> {
    return this.listen(this.port);
  }

  async stop(): Promise<void> {
    if (this.isRunning) await this.down();
  }

  /** Lets the provider tell the application that a session has ended. Rejects if the application does not answer 200. */
  async logOut(clientId: string, subject: string, sid?: string): Promise<void> {
    const client = await this.provider.Client.find(clientId);
    await client!.backchannelLogout(subject, sid);
  }

  /** A logout token; the claims replace those of a valid one, undefined removes one. */
  logoutToken(clientId: string, claims: Record<string, unknown>, header: Record<string, unknown> = {}): string {
    const now = Math.floor(Date.now() / 1000);
    const valid = {
      iss: this.issuer,
      aud: clientId,
      iat: now,
      exp: now + 120,
      jti: crypto.randomUUID(),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    };
    return this.jwt({ typ: 'logout+jwt', ...header }, { ...valid, ...claims });
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!.split('?', 1)[0]!;
    const endpoint = (Object.keys(PATHS) as Endpoint[]).find((name) => PATHS[name] === path);
    if (endpoint) this.requests.push(endpoint);
    if (endpoint) await this.events.get(endpoint)?.();
    const answer = endpoint && this.answers.get(endpoint);
    if (answer) return void answer(request, response);
    if (path === PATHS.jwks) return void json(response, { keys: this.keys.map(({ jwk }) => jwk) });
    if (path.startsWith('/interaction/')) {
      const { subject: accountId, amr, acr } = this.signedIn;
      return this.provider.interactionFinished(request, response, { login: { accountId, amr, acr } });
    }
    if (endpoint === 'token') this.change(response, (body) => this.withWrongToken(body));
    if (endpoint === 'discovery') this.change(response, (body) => ({ ...body, ...this.wrong.discovery }));
    this.provider.callback()(request, response);
  }

  /** Changes the JSON that is sent. */
  private change(response: ServerResponse, by: (body: Record<string, unknown>) => Record<string, unknown>): void {
    const end = response.end.bind(response) as (text: string) => ServerResponse;
    response.end = ((body: string | Buffer) => {
      const text = JSON.stringify(by(JSON.parse(String(body)) as Record<string, unknown>));
      response.setHeader('Content-Length', Buffer.byteLength(text));
      return end(text);
    }) as typeof response.end;
  }

  private withWrongToken(body: Record<string, unknown>): Record<string, unknown> {
    const { claims, header, key } = this.wrong;
    const isChanged = key || this.keys[0] !== this.first || Object.keys({ ...claims, ...header }).length > 0;
    if (typeof body.id_token !== 'string' || !isChanged) return body;
    const payload = JSON.parse(String(Buffer.from(body.id_token.split('.')[1]!, 'base64url'))) as object;
    return { ...body, id_token: this.jwt(header, { ...payload, ...claims }) };
  }

  /** Signs as the header says: with the key of the provider, with a secret, or not at all. */
  private jwt(header: Record<string, unknown>, claims: Record<string, unknown>): string {
    const key = this.wrong.key ?? this.keys[0]!;
    const full = { alg: 'ES256', kid: key.kid, ...header };
    const data = `${encoded(full)}.${encoded(claims)}`;
    if (full.alg === 'none') return `${data}.`;
    return `${data}.${full.alg === 'HS256' ? hmac(data, this.clients[0]!.client_secret!) : es256(data, key.privateKey)}`;
  }
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const es256 = (data: string, key: KeyObject): string =>
  sign('sha256', Buffer.from(data), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url');

const hmac = (data: string, secret: string): string => createHmac('sha256', secret).update(data).digest('base64url');

export function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
