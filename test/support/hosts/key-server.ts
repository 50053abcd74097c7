import { type JsonWebKey, type KeyObject, generateKeyPairSync } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { type AddressInfo } from 'node:net';

export interface SigningKey {
  kid: string;
  privateKey: KeyObject;
  jwk: JsonWebKey;
}

/** A key pair of an issuer: the private key and the published JWK. */
export function signingKey(kid: string): SigningKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'ES256' } };
}

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Publishes a key set over HTTP, or responds as the test defines, and counts the requests. */
export class KeyServer {
  reads = 0;
  answer: Answer = (_, response) => response.end();
  private readonly server: Server = createServer((request, response) => {
    if (request.url === '/jwks') this.reads++;
    this.answer(request, response);
  });

  static async start(): Promise<KeyServer> {
    const keys = new KeyServer();
    await new Promise<void>((resolve) => keys.server.listen(0, '127.0.0.1', resolve));
    return keys;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/jwks`;
  }

  /** Sets the key set of the following responses. */
  publish(keys: readonly SigningKey[], cacheControl?: string): void {
    const text = JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });
    this.answer = (_, response) => {
      if (cacheControl) response.setHeader('Cache-Control', cacheControl);
      response.setHeader('Content-Type', 'application/jwk-set+json').end(text);
    };
  }

  /** Delays every response until the returned function is called. */
  hold(): () => void {
    const answer = this.answer;
    const waiting: (() => unknown)[] = [];
    this.answer = (request, response) => waiting.push(() => answer(request, response));
    return () => {
      this.answer = answer;
      for (const go of waiting.splice(0)) go();
    };
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
