import { sign } from 'jsonwebtoken';
import { createHmac, createSecretKey, randomUUID } from 'node:crypto';
import { API_AUDIENCE, SECRET } from '../hosts/host.module';

/** RFC 9068 §2.1 */
const ACCESS_TOKEN_TYPE = 'at+jwt';

export interface Forgery {
  header?: Record<string, unknown>;
  claims?: Record<string, unknown>;
  without?: string[];
  secret?: string;
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token that is valid except for the changes of the test. Signed by hand: no JWT library writes invalid tokens. */
export function forge({ header = {}, claims = {}, without = [], secret = SECRET }: Forgery = {}): string {
  const now = Math.floor(Date.now() / 1000);
  const body: Record<string, unknown> = {
    iss: 'https://api.example.com',
    aud: API_AUDIENCE,
    sub: '1',
    fid: randomUUID(),
    jti: randomUUID(),
    iat: now,
    nbf: now,
    exp: now + 900,
    ...claims,
  };
  for (const name of without) delete body[name];
  const signed = `${part({ typ: ACCESS_TOKEN_TYPE, alg: 'HS256', ...header })}.${part(body)}`;
  return `${signed}.${createHmac('sha256', createSecretKey(Buffer.from(secret)))
    .update(signed)
    .digest('base64url')}`;
}

/**
 * A token of the same form that is certainly another one. Its last character stays, because that one must end the bytes.
 * A constant in place of the end would now and then be the end.
 */
export const altered = (token: string): string => token.replace(/.(?=.$)/, (one) => (one === 'A' ? 'B' : 'A'));

/** The same claims as an unsigned token (RFC 7519 §6.1). */
export const unsigned = (): string =>
  sign({ sub: '1', aud: API_AUDIENCE, iss: 'https://api.example.com', exp: 4e9 }, '', {
    algorithm: 'none',
    header: { typ: ACCESS_TOKEN_TYPE, alg: 'none' },
  });
