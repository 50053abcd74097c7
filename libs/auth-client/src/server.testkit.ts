import { createAuthClient } from './client.js';
import type { AuthClient, AuthClientEvents, AuthClientOptions } from './types.js';

export const URL_OF_GUARD = 'https://api.test/auth';
export const ORDERS = 'https://api.test/orders';
export const LOGIN = { email: 'ada', password: 'secret' };
const LIFETIME_S = 900;

interface Seen {
  method: string;
  path: string;
  headers: Headers;
  body: Record<string, unknown> | null;
  redirect: RequestRedirect;
}

/** What the server answers; `text`: not JSON; `headers`: those that the guard and its host do not send; `'lost'`: it does its work and the answer does not arrive. */
type Answer = { status?: number; body?: unknown; text?: string; headers?: Record<string, string> } | 'lost' | undefined;

/** The header of each answer of the guard. */
export const OF_GUARD = { 'Cache-Control': 'no-store, private' };
/** The challenge of a refused access token. */
export const INVALID = { 'WWW-Authenticate': 'Bearer error="invalid_token"' };

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A server with the wire format, in place of `fetch`: one session for each login. */
export class FakeServer {
  readonly seen: Seen[] = [];
  /** Answers before the server does. */
  answer: (request: Seen) => Answer | Promise<Answer> = () => undefined;
  /** Seconds until an access token expires. */
  lifetime = LIFETIME_S;
  /** Whether the refresh token is in a cookie, which the tests do not look at. */
  isCookieMode = false;
  /** The thumbprint of the key to which tokens are bound. */
  jkt: string | null = null;
  private generation = 0;
  private tokens = 0;
  private sessions = 0;
  private live: { fid: string; sub: string } | null = null;
  private readonly clients: AuthClient[] = [];
  private readonly original = globalThis.fetch;

  constructor() {
    globalThis.fetch = (input, init) => this.handle(new Request(input, init));
  }

  stop(): void {
    globalThis.fetch = this.original;
    for (const client of this.clients) client.close();
  }

  /** Ends the session, as an operator does. */
  revoke(): void {
    this.live = null;
  }

  client(options: AuthClientOptions = {}): AuthClient {
    const client = createAuthClient({ url: URL_OF_GUARD, refreshToken: 'memory', ...options });
    this.clients.push(client);
    return client;
  }

  /** A client that has signed in. */
  async signedIn(options?: AuthClientOptions): Promise<AuthClient> {
    const client = this.client(options);
    await client.login(LOGIN);
    return client;
  }

  /** The refresh tokens that the clients have sent. */
  get refreshed(): unknown[] {
    return this.seen.filter(({ path }) => path === '/auth/refresh').map(({ body }) => body?.refresh_token);
  }

  count(path: string): number {
    return this.seen.filter((one) => one.path === path).length;
  }

  get last(): Seen {
    return this.seen.at(-1)!;
  }

  private async handle(request: Request): Promise<Response> {
    const { method, headers, signal, redirect } = request;
    const text = await request.text();
    const path = new URL(request.url).pathname;
    const seen = {
      method,
      path,
      headers,
      body: text && /json/.test(headers.get('Content-Type')!) ? JSON.parse(text) : null,
      redirect,
    };
    this.seen.push(seen);
    const given = await this.answer(seen);
    if (signal.aborted) throw signal.reason;
    const own = given && given !== 'lost' ? given : this.usual(seen);
    if (given === 'lost') throw new TypeError('Failed to fetch');
    const { status = 200, body = null, text: page = JSON.stringify(body), headers: more } = own;
    const type = 'text' in own ? 'text/html' : 'application/json';
    const usual = { 'Content-Type': type, ...(path.startsWith('/auth/') && OF_GUARD) };
    return new Response(status === 204 ? null : page, { status, headers: { ...usual, ...more } });
  }

  private usual({ path, body, headers }: Seen): Exclude<Answer, 'lost' | undefined> {
    const named = body?.email as string | undefined;
    if (path === '/auth/login') {
      this.live = { fid: `session-${++this.sessions}`, sub: named ?? 'ada' };
      this.generation = 1;
      return { body: this.issue() };
    }
    if (path === '/auth/refresh') {
      const presented = this.isCookieMode ? this.generation : Number(String(body?.refresh_token).split('.')[1]);
      // The current token, or the one before it: within the grace period.
      if (!this.live || presented < this.generation - 1) return { status: 401, body: { message: 'Sign in again.' } };
      if (presented === this.generation) this.generation++;
      return { body: this.issue() };
    }
    if (!this.live || !headers.get('Authorization'))
      return { status: 401, body: { message: 'Authentication is required.' }, headers: { ...OF_GUARD, ...INVALID } };
    if (path === '/auth/logout') {
      this.live = null;
      return { status: 204 };
    }
    if (path === '/auth/confirm-password') return { body: { confirmation_token: `confirmation ${body!.password}` } };
    return { body: { token: headers.get('Authorization'), sent: body } };
  }

  private issue(): object {
    const cnf = this.jkt ? { cnf: { jkt: this.jkt } } : {};
    const claims = { ...this.live, ...cnf, jti: String(++this.tokens), amr: ['pwd'], name: 'Zoë' };
    return {
      token_type: this.jkt ? 'DPoP' : 'Bearer',
      access_token: `${base64url({ alg: 'HS256' })}.${base64url(claims)}.signature`,
      ...(!this.isCookieMode && { refresh_token: `token.${this.generation}` }),
      expires_in: this.lifetime,
    };
  }
}

/** The events of a client, as texts: `signedOut logout`, and `renewed other tab`. */
export function eventsOf(client: AuthClient): string[] {
  const events: string[] = [];
  const names: (keyof AuthClientEvents)[] = ['signedIn', 'renewed', 'signedOut'];
  for (const name of names)
    client.on(name, (detail) =>
      events.push(
        [name, 'reason' in detail && detail.reason, detail.otherTab && 'other tab'].filter(Boolean).join(' '),
      ),
    );
  return events;
}

/** The time stands still until {@link pass}. */
export const useClock = () => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });

/** Milliseconds pass, and each timer finds the answers of earlier requests. */
export async function pass(ms: number, step = ms): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) {
    await jest.advanceTimersByTimeAsync(step);
    for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
  }
}
