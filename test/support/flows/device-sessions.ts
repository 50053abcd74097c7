import { type CryptoKey, type JWK, SignJWT, exportJWK, generateKeyPair } from 'jose';
import type { TestApp } from '../hosts/app';
import { ADA, PASSWORD } from '../hosts/user-entities';

export interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** What an attack changes of a proof. */
export interface ProofChange {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
}

interface Instructions {
  readonly session_identifier: string;
  readonly refresh_url: string;
  readonly credentials: readonly { readonly name: string }[];
}

/** The header with which a server starts a device bound session: its algorithms and its parameters. */
export function registrationIn(header: string): { algorithms: string[]; path: string; challenge: string } {
  const [, algorithms, path, challenge] = /^\(([\w ]+)\);path="([^"]+)";challenge="([^"]+)"$/.exec(header)!;
  return { algorithms: algorithms!.split(' '), path: path!, challenge: challenge! };
}

/** A browser with Device Bound Session Credentials, which does what the draft of the W3C says; `supports: false` for others. */
export class Browser {
  readonly cookies = new Map<string, string>();
  /** The sessions of the browser, by their identifier, with the challenge to use next. */
  readonly sessions = new Map<string, { instructions: Instructions; challenge: string | null }>();
  private keys?: { privateKey: CryptoKey; jwk: JWK };

  constructor(
    private readonly t: TestApp,
    private readonly supports = true,
  ) {}

  async key(): Promise<{ privateKey: CryptoKey; jwk: JWK }> {
    if (!this.keys) {
      const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
      this.keys = { privateKey, jwk: await exportJWK(publicKey) };
    }
    return this.keys;
  }

  /** A thief who has the cookies of the browser, and a key of his own. */
  stolen(): Browser {
    const thief = new Browser(this.t);
    for (const [name, value] of this.cookies) thief.cookies.set(name, value);
    return thief;
  }

  /** A request with the cookies of the browser. Keeps those of the answer. */
  async send(path: string, headers: Record<string, string> = {}, body?: object): Promise<Seen> {
    const cookie = [...this.cookies].map((pair) => pair.join('=')).join('; ');
    const response = await fetch((await this.t.app.getUrl()) + path, {
      method: 'POST',
      headers: { ...(cookie && { Cookie: cookie }), ...(body && { 'Content-Type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!;
      if (value) this.cookies.set(name!, value);
      else this.cookies.delete(name!);
    }
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text ? (JSON.parse(text) as Seen['body']) : {} };
  }

  /** Signs in, and returns the challenge of the answer, without a registration. */
  async signIn(email = ADA, path = '/auth'): Promise<{ answer: Seen; path: string; challenge: string }> {
    const answer = await this.send(`${path}/login`, {}, { email, password: PASSWORD });
    const header = answer.headers.get('secure-session-registration');
    return { answer, ...(header === null ? { path: '', challenge: '' } : registrationIn(header)) };
  }

  /** Signs in as a browser does: it registers its key at once. */
  async start(email = ADA, path = '/auth'): Promise<string> {
    const { path: endpoint, challenge } = await this.signIn(email, path);
    const answer = await this.register(
      endpoint,
      await this.proof(challenge, { header: { jwk: (await this.key()).jwk } }),
    );
    return answer.body.session_identifier as string;
  }

  async proof(challenge: string, { header = {}, claims = {} }: ProofChange = {}): Promise<string> {
    return new SignJWT({ jti: challenge, ...claims } as never)
      .setProtectedHeader({ typ: 'dbsc+jwt', alg: 'ES256', ...header } as never)
      .sign((await this.key()).privateKey);
  }

  /** Posts the proof of a new key. A 2xx answer starts the session in the browser. */
  async register(endpoint: string, proof: string, headers: Record<string, string> = {}): Promise<Seen> {
    const answer = await this.send(endpoint, { 'Secure-Session-Response': `"${proof}"`, ...headers });
    if (answer.status === 200) this.keep(answer);
    return answer;
  }

  /** A request of a page: first, the browser renews the cookies of its sessions that are missing. */
  async request(path: string): Promise<Seen> {
    if (this.supports)
      for (const [id, { instructions }] of this.sessions)
        if (instructions.credentials.some(({ name }) => !this.cookies.has(name))) await this.renew(id);
    return this.send(path);
  }

  /** "Send request" of the draft, for the refresh of a session. Returns the statuses of its requests. */
  async renew(id: string): Promise<number[]> {
    const statuses: number[] = [];
    while (statuses.length < 4) {
      const { instructions, challenge } = this.sessions.get(id)!;
      const answer = await this.send(instructions.refresh_url, {
        'Sec-Secure-Session-Id': `"${id}"`,
        ...(challenge !== null && { 'Secure-Session-Response': `"${await this.proof(challenge)}"` }),
      });
      statuses.push(answer.status);
      const [, next, of] = /^"([^"]+)";id="([^"]+)"$/.exec(answer.headers.get('secure-session-challenge') ?? '') ?? [];
      if (next && of) this.sessions.get(of)!.challenge = next;
      if (answer.status === 403) continue;
      if (answer.status === 200) this.keep(answer);
      else if (answer.status < 500) this.sessions.delete(id);
      break;
    }
    return statuses;
  }

  /** Time passes: the browser removes what has expired. */
  expire(): void {
    this.cookies.delete('__Host-refresh.bound');
  }

  private keep({ body }: Seen): void {
    const instructions = body as unknown as Instructions;
    const { challenge = null } = this.sessions.get(instructions.session_identifier) ?? {};
    this.sessions.set(instructions.session_identifier, { instructions, challenge });
  }
}
