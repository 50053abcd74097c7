import { type CryptoKey, type JWK, SignJWT, calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import { createHash, randomUUID } from 'node:crypto';
import type { TestApp, Tokens } from '../hosts/app';
import { ADA, PASSWORD } from '../hosts/user-entities';

export const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

/** Parts of a proof that replace the right ones; undefined removes a part. */
export interface ProofParts {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
}

/** How a device sends a request. */
export interface Sent extends ProofParts {
  readonly token?: string;
  readonly body?: unknown;
  /** The whole proof, or none. */
  readonly proof?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly scheme?: string;
  readonly nonce?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Tokens & Record<string, unknown>;
}

/** A client with a key. */
export class Device {
  private constructor(
    private readonly privateKey: CryptoKey,
    readonly jwk: JWK,
    readonly alg: string,
    readonly jkt: string,
  ) {}

  static async create(alg = 'ES256'): Promise<Device> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const jwk = await exportJWK(publicKey);
    return new Device(privateKey, jwk, alg, await calculateJwkThumbprint(jwk));
  }

  privateJwk(): Promise<JWK> {
    return exportJWK(this.privateKey);
  }

  /** A proof for a request. */
  proof(method: string, url: string, { token, nonce, claims = {}, header = {} }: Sent = {}): Promise<string> {
    const all = {
      jti: randomUUID(),
      htm: method,
      htu: url.split('?', 1)[0]!,
      iat: Math.floor(Date.now() / 1000),
      ...(token !== undefined && { ath: hashOf(token) }),
      ...(nonce !== undefined && { nonce }),
      ...claims,
    };
    return new SignJWT(all as never)
      .setProtectedHeader({ typ: 'dpop+jwt', alg: this.alg, jwk: this.jwk, ...header } as never)
      .sign(this.privateKey);
  }

  /** A request of the client to an application, with a proof. */
  async send(t: TestApp, method: string, path: string, sent: Sent = {}): Promise<Answer> {
    const url = (await t.app.getUrl()) + path;
    const { token, body, scheme = 'DPoP' } = sent;
    const proof = sent.proof === undefined ? await this.proof(method, url, sent) : sent.proof;
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: {
        ...(proof !== null && { DPoP: proof }),
        ...(token !== undefined && { Authorization: `${scheme} ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...sent.headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed = text.startsWith('{') ? (JSON.parse(text) as Answer['body']) : ({} as Answer['body']);
    return { status: response.status, headers: response.headers, body: parsed };
  }

  /** Signs in, with a session that is bound to the key. */
  login(t: TestApp, sent: Sent = {}, email = ADA, path = '/auth/login'): Promise<Answer> {
    return this.send(t, 'POST', path, { body: { email, password: PASSWORD }, ...sent });
  }

  refresh(t: TestApp, refreshToken: string, sent: Sent = {}, path = '/auth/refresh'): Promise<Answer> {
    return this.send(t, 'POST', path, { body: { refresh_token: refreshToken }, ...sent });
  }

  get(t: TestApp, path: string, token: string, sent: Sent = {}): Promise<Answer> {
    return this.send(t, 'GET', path, { token, ...sent });
  }
}
