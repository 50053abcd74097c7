import { type KeyObject, createHash, generateKeyPairSync, randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';

/** The claims of a person. */
export interface Person {
  readonly sub: string;
  readonly [claim: string]: unknown;
}

interface Grant {
  readonly query: URLSearchParams;
  readonly person: Person;
}

/** A provider with OpenID Connect on loopback, without pages: a test says who signs in. A code works once. */
export class ScriptedProvider {
  private readonly grants = new Map<string, Grant>();
  private readonly key: { privateKey: KeyObject; publicKey: KeyObject } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
  });
  private readonly server: Server = createServer((request, response) => void this.answer(request, response));
  issuer = '';
  /** Requests by path. */
  readonly asked: string[] = [];
  /** Paths that are answered 503. */
  readonly down = new Set<string>();

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.issuer = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return this;
  }

  reset(): void {
    this.asked.length = 0;
    this.down.clear();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** The query with which the browser returns from an address, after a person has signed in there. */
  signedIn(url: string, person: Person): string {
    const query = new URL(url).searchParams;
    const code = randomUUID();
    this.grants.set(code, { query, person });
    return String(new URLSearchParams({ code, state: query.get('state')!, iss: this.issuer }));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url!, this.issuer);
    this.asked.push(pathname);
    const send = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (this.down.has(pathname)) return send(503, {});
    if (pathname === '/.well-known/openid-configuration') return send(200, this.metadata());
    if (pathname === '/jwks')
      return send(200, {
        keys: [{ ...this.key.publicKey.export({ format: 'jwk' }), kid: '1', alg: 'ES256', use: 'sig' }],
      });
    let text = '';
    for await (const part of request) text += part;
    const form = new URLSearchParams(text);
    const grant = this.grants.get(form.get('code') ?? '');
    this.grants.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!grant || challenge !== grant.query.get('code_challenge')) return send(400, { error: 'invalid_grant' });
    const idToken = await new SignJWT({ nonce: grant.query.get('nonce')!, ...grant.person })
      .setProtectedHeader({ alg: 'ES256', kid: '1' })
      .setIssuer(this.issuer)
      .setAudience(grant.query.get('client_id')!)
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(this.key.privateKey);
    send(200, { access_token: randomUUID(), token_type: 'Bearer', expires_in: 60, id_token: idToken });
  }

  private metadata(): object {
    const { issuer } = this;
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    };
  }
}
