/** What a token of one realm must say. */
export interface Expectations {
  issuer: string;
  audience: readonly string[];
  leeway: number;
  /** Seconds that a token of the realm can live, with leeway and margin for clocks: a denial lasts as long. */
  longestLife: number;
}

/** The claims of an access token that passed. */
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
  [claim: string]: unknown;
}

/** `typ` of an access token: a login challenge shares its key, issuer, audience and subject (RFC 9068 §2.1). */
export const ACCESS_TOKEN_TYPE = 'at+jwt';

type Header = Readonly<Record<string, unknown>>;
type Claims = Readonly<Record<string, unknown>>;

/**
 * Whether a JWS with a good signature is an access token of this realm, now. Pure.
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
    audiences(claims.aud).some((audience) => expected.audience.includes(audience)) &&
    typeof claims.sub === 'string' &&
    claims.sub !== ''
  );
}

/** An absent `exp` would live for ever; JWT libraries only judge the claims that are present. */
function isCurrent({ exp, nbf, iat }: Claims, leeway: number, now: number): boolean {
  const start = nbf ?? iat ?? 0;
  return isTime(exp) && isTime(start) && start <= now + leeway && !isOver({ exp }, leeway, now);
}

/**
 * Whether the realm can have given a token this life. After `accessTtl` was lowered, a token that was minted for longer
 * is refused at once and for ever: a denial is kept for the configured life only, and such a token would outlive it.
 */
function hasPossibleLife({ exp, nbf, iat }: Claims, longestLife: number, now: number): boolean {
  const start = Math.min(now, ...[nbf, iat].filter(isTime));
  return isTime(exp) && exp - start <= longestLife;
}

/** Whether a token was to live until a time that has passed. */
export const isOver = ({ exp }: Claims, leeway: number, now: number): boolean => isTime(exp) && exp <= now - leeway;

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

const audiences = (aud: unknown): string[] => [aud].flat().filter((item): item is string => typeof item === 'string');

/** Claims that only the library may set. A hook can neither forge them nor outlive their removal. */
const RESERVED = ['iss', 'aud', 'sub', 'fid', 'jti', 'iat', 'nbf', 'exp', 'amr', 'auth_time', 'pin'];

/** The parts an access token is made of. */
export interface AccessTokenParts {
  /** From hooks, then from the login; later ones win. */
  custom: object;
  standard: Readonly<Record<string, unknown>>;
  /** Space-delimited abilities; undefined where abilities are unused and a hook's `scope` stays. */
  scope: string | undefined;
  pinned: boolean;
}

/** The claims to sign: hook claims under standard ones, then what the session was granted. Pure. */
export function accessClaims({ custom, standard, scope, pinned }: AccessTokenParts): Record<string, unknown> {
  const claims: Record<string, unknown> = { ...custom };
  for (const name of RESERVED) delete claims[name];
  Object.assign(claims, standard);
  if (scope !== undefined) delete claims.scope;
  if (scope) claims.scope = scope;
  if (pinned) claims.pin = true;
  return claims;
}
