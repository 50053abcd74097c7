import type { GuardConfig } from '../../foundation/config/auth-config';

/** What the claims of a realm's access token must match. */
export interface Expectations {
  issuer: string;
  audience: readonly string[];
  leeway: number;
  ids: GuardConfig['tokenIds'];
  /** The members of the claim `cnf` (RFC 7800) that a feature verifies. */
  confirmations: readonly string[];
  /** Longest life of a token in seconds, with leeway and clock margin. A denial lasts as long. */
  longestLife: number;
}

/** The claims of a valid access token. */
export interface AccessClaims {
  iss: string;
  aud: string | string[];
  sub: string;
  exp: number;
  fid?: string;
  jti?: string;
  iat?: number;
  nbf?: number;
  amr?: string[];
  auth_time?: number;
  scope?: string;
  pin?: true;
  /** The key to which the token is bound (RFC 7800): one member. */
  cnf?: Readonly<Record<string, string>>;
  [claim: string]: unknown;
}

/** `typ` of an access token (RFC 9068 §2.1). Only `typ` distinguishes it from a login challenge, signed with the same key. */
export const ACCESS_TOKEN_TYPE = 'at+jwt';

type Header = Readonly<Record<string, unknown>>;
type Claims = Readonly<Record<string, unknown>>;

/**
 * Whether a JWS with a verified signature is a currently valid access token of this realm. Pure.
 *
 * @param now unix seconds
 */
export function isAccessToken(
  header: Header,
  claims: Claims,
  expected: Expectations,
  now: number,
): claims is AccessClaims {
  return (
    header.typ === ACCESS_TOKEN_TYPE &&
    header.crit === undefined &&
    isCurrent(claims, expected.leeway, now) &&
    hasPossibleLife(claims, expected.longestLife, now) &&
    claims.iss === expected.issuer &&
    isFor(claims.aud, expected.audience) &&
    typeof claims.sub === 'string' &&
    claims.sub !== '' &&
    hasSoundClaims(claims, expected.ids) &&
    isConfirmable(claims.cnf, expected.confirmations)
  );
}

/**
 * Whether a token is bound to no key, or to one key that an enabled feature verifies. A guard without this feature must not take a
 * bound token as one for its bearer (RFC 9449 §7.2). Pure.
 */
function isConfirmable(cnf: unknown, confirmations: readonly string[]): boolean {
  if (cnf === undefined) return true;
  if (typeof cnf !== 'object' || cnf === null) return false;
  const [[member, value] = [], ...more] = Object.entries(cnf);
  return more.length === 0 && confirmations.includes(member!) && typeof value === 'string' && value !== '';
}

/**
 * Whether the times and the ids of a token of any purpose have the types that this library issues. Pure. `exp`, `nbf` and
 * `iat` are whole seconds, `jti` and `fid` are ids; each may be absent, but not null.
 *
 * @param ids the option `tokenIds`
 */
export function hasSoundClaims({ exp, nbf, iat, jti, fid }: Claims, ids: GuardConfig['tokenIds']): boolean {
  const areTimes = isTimeOrAbsent(exp) && isTimeOrAbsent(nbf) && isTimeOrAbsent(iat);
  return areTimes && isTokenId(jti, ids) && isTokenId(fid, ids);
}

/** Requires `exp`: JWT libraries check only the claims that are present, so a token without `exp` would never expire. */
function isCurrent({ exp, nbf, iat }: Claims, leeway: number, now: number): boolean {
  const start = nbf ?? iat ?? 0;
  return isTime(exp) && isTime(start) && start <= now + leeway && !isOver({ exp }, leeway, now);
}

/**
 * Whether the realm can have minted a token with this life. After `accessTtl` is lowered, tokens with a longer life are
 * refused permanently: a denial is kept for the configured life only, and would expire before such a token.
 */
function hasPossibleLife({ exp, nbf, iat }: Claims, longestLife: number, now: number): boolean {
  const start = Math.min(now, isTime(nbf) ? nbf : now, isTime(iat) ? iat : now);
  return isTime(exp) && exp - start <= longestLife;
}

/** Whether a token has expired. False without a numeric `exp`. */
export const isOver = ({ exp }: Claims, leeway: number, now: number): boolean => isTime(exp) && exp <= now - leeway;

/** The last second of the year 9999 (RFC 3339 §1). A larger number is a time in another unit, such as milliseconds. */
const LAST_TIME = 253_402_300_799;

/** Whether a value is a time of a claim: whole seconds since 1970. Null is not an absent claim, but an invalid one. */
const isTime = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LAST_TIME;

const isTimeOrAbsent = (value: unknown): boolean => value === undefined || isTime(value);

const CANONICAL_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Whether the id of a token or of its session is absent or has the accepted shape. This library issues canonical UUIDs.
 * With `any`, another issuer with the same key may use any text, in which an empty one counts as absent.
 */
const isTokenId = (id: unknown, shape: GuardConfig['tokenIds']): boolean =>
  id === undefined || (typeof id === 'string' && (shape === 'any' || CANONICAL_UUID.test(id)));

/** Whether `aud`, a text or a list of texts (RFC 7519 §4.1.3), names an audience of the realm. */
const isFor = (aud: unknown, audience: readonly unknown[]): boolean =>
  Array.isArray(aud) ? aud.some((one) => audience.includes(one)) : audience.includes(aud);

/** Claims that only the library may set. Claims of a hook with these names are removed. */
const RESERVED = ['iss', 'aud', 'sub', 'fid', 'jti', 'iat', 'nbf', 'exp', 'amr', 'auth_time', 'pin', 'cnf'];

/**
 * Describes a claim of the host that no token can have; null if there is none. Pure. Code that looks claims up by name finds
 * the members that every object inherits, such as `constructor`, and `toJSON` would replace the whole token. Of the values,
 * JSON has no form for a bigint and for an object that contains itself.
 */
export function claimProblem(claims: object): string | null {
  const names = Object.keys(claims);
  const refused = names.find((name) => name in Object.prototype || name === 'toJSON');
  if (refused !== undefined) return `No token can have a claim with the name "${refused}".`;
  const unwritable = names.find((name) => !isWritable((claims as Record<string, unknown>)[name]));
  return unwritable === undefined ? null : `The claim "${unwritable}" has a value without a form in JSON.`;
}

function isWritable(value: unknown): boolean {
  if (typeof value !== 'object' && typeof value !== 'bigint') return true;
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

/** The parts an access token is made of. */
export interface AccessTokenParts {
  /** Claims of hooks, then of the login. Later ones replace earlier ones. */
  custom: object;
  standard: Readonly<Record<string, unknown>>;
  /** Space-delimited abilities. Undefined if abilities are unused: the `scope` of a hook is kept then. */
  scope: string | undefined;
  pinned: boolean;
}

/** Builds the claims to sign: custom claims, overwritten by standard claims and the granted scope. Pure. */
export function accessClaims({ custom, standard, scope, pinned }: AccessTokenParts): Record<string, unknown> {
  const claims: Record<string, unknown> = { ...custom };
  for (const name of RESERVED) delete claims[name];
  Object.assign(claims, standard);
  if (scope !== undefined) delete claims.scope;
  if (scope) claims.scope = scope;
  if (pinned) claims.pin = true;
  return claims;
}
