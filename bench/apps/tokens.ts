import { type KeyObject, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';

/** The lifetime of an access token in seconds. */
export const ACCESS_TTL = 900;

const PARTY = 'https://bench.test';

const HEADER = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'at+jwt' })).toString('base64url');

/** The claims of a token of {@link signToken}: those of the library, so that their tokens have the same form. */
export interface Claims {
  iss: string;
  aud: string;
  sub: string;
  fid: string;
  jti: string;
  iat: number;
  nbf: number;
  exp: number;
  auth_time: number;
}

const mac = (signed: string, key: KeyObject): Buffer => createHmac('sha256', key).update(signed).digest();

/** An HS256 JWT that is valid for 15 minutes. */
export function signToken(sub: string, fid: string, key: KeyObject): string {
  const now = Math.floor(Date.now() / 1000);
  const claims: Claims = {
    iss: PARTY,
    aud: PARTY,
    sub,
    fid,
    jti: randomUUID(),
    iat: now,
    nbf: now,
    exp: now + ACCESS_TTL,
    auth_time: now,
  };
  const signed = `${HEADER}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  return `${signed}.${mac(signed, key).toString('base64url')}`;
}

/** The claims of a token of {@link signToken}, or undefined if the token is invalid or expired. */
export function verifyToken(token: string, key: KeyObject): Claims | undefined {
  const [header, payload, signature] = token.split('.');
  if (header !== HEADER || payload === undefined || signature === undefined) return undefined;
  const [expected, given] = [mac(`${header}.${payload}`, key), Buffer.from(signature, 'base64url')];
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims;
  const isForUs = claims.iss === PARTY && claims.aud === PARTY;
  return isForUs && claims.exp > Date.now() / 1000 ? claims : undefined;
}
