import { type KeyObject, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';

const HEADER = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'JWT' })).toString('base64url');

/** The claims of a token of {@link signToken}. */
export interface Claims {
  sub: string;
  fid: string;
  jti: string;
  exp: number;
}

const mac = (signed: string, key: KeyObject): Buffer => createHmac('sha256', key).update(signed).digest();

/** An HS256 JWT that is valid for 15 minutes. */
export function signToken(sub: string, fid: string, key: KeyObject): string {
  const claims: Claims = { sub, fid, jti: randomUUID(), exp: Math.floor(Date.now() / 1000) + 900 };
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
  return claims.exp > Date.now() / 1000 ? claims : undefined;
}
