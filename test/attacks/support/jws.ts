import { type KeyObject, createHmac, hash as digestOf, randomUUID, sign as signWith } from 'node:crypto';
import { ADMIN_AUDIENCE, API_AUDIENCE, SECRET } from '../../support/hosts/host.module';
import type { Visitor } from './attacked-host';

export type Json = Record<string, unknown>;
/** Signs the first two parts of a token. */
export type Signer = (input: string) => Buffer;
export const b64 = (data: string | Buffer): string => Buffer.from(data).toString('base64url');
export const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

export const hmac =
  (secret: string | Buffer, hash = 'sha256'): Signer =>
  (input) =>
    createHmac(hash, secret).update(input).digest();
export const rsa =
  (key: KeyObject, hash = 'sha256'): Signer =>
  (input) =>
    signWith(hash, Buffer.from(input), key);
export const ecdsa =
  (key: KeyObject): Signer =>
  (input) =>
    signWith('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
export const noSignature: Signer = () => Buffer.alloc(0);
export const ownSigner = hmac(SECRET);

/** Two unchecked parts, which need not be JSON, and a signature. */
export function compact(header: unknown, claims: unknown, signer: Signer): string {
  const input = `${b64(text(header))}.${b64(text(claims))}`;
  return `${input}.${b64(signer(input))}`;
}

const part = (token: string, i: number): Json => JSON.parse(Buffer.from(token.split('.')[i]!, 'base64url').toString());
export const headerOf = (token: string): Json => part(token, 0);
export const claimsOf = (token: string): Json => part(token, 1);

export const now = (): number => Math.floor(Date.now() / 1000);
export const audienceOf = ({ guard }: Visitor): string => (guard === 'api' ? API_AUDIENCE : ADMIN_AUDIENCE);

/** A login challenge or confirmation token of the visitor, as the library mints it. */
export function purposeToken(
  typ: string,
  visitor: Visitor,
  change: Json = {},
  signer = ownSigner,
  header: Json = {},
): string {
  const jti = randomUUID();
  const fpr = digestOf('sha256', JSON.stringify([jti, visitor.passwordHash]));
  const claims = {
    iss: 'https://api.example.com',
    aud: [audienceOf(visitor)],
    sub: visitor.id,
    jti,
    iat: now(),
    nbf: now(),
    exp: now() + 290,
    gid: visitor.guard,
    ...(typ === CONFIRMATION && { fid: claimsOf(visitor.access).fid, fpr }),
    ...change,
  };
  return compact({ typ, alg: 'HS256', ...header }, claims, signer);
}

export const CONFIRMATION = 'reauth+challenge';
export const CHALLENGE = '2fa+challenge';
export const confirmationTokenFor = (visitor: Visitor): string => purposeToken(CONFIRMATION, visitor);
