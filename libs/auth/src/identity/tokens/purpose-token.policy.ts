/**
 * Why the library must not start with tokens of these types, one for each purpose and that of access tokens. Pure. With one
 * type for two of them, a token would be valid for both.
 */
export const purposeErrors = (types: readonly string[]): string[] =>
  types
    .filter((type, i) => types.indexOf(type) < i)
    .map((type) => `Two kinds of tokens have the type ${type}. Give each purpose a type of its own.`);

/** What the header and claims of a single-purpose token must match. */
export interface PurposeExpectations {
  /** The `typ` header of its purpose. */
  type: string;
  issuer: string;
  audience: readonly string[];
  guard: string;
  leeway: number;
  /** Maximum lifetime in seconds of a token of the purpose. */
  longest: number;
}

/** The claims of a valid challenge or confirmation token. */
export interface PurposeClaims {
  readonly sub: string;
  readonly jti: string;
  readonly exp: number;
  /** The session for which it was minted; absent if there was none. */
  readonly fid?: string;
  /** Fingerprint of the password hash that was stored at mint. That of a login challenge is keyed. */
  readonly fpr?: string;
  /** Of a login challenge: false if the session that completes it is not remembered; absent otherwise. */
  readonly rem?: false;
  /** Of a login challenge: the method of the first factor (RFC 8176); absent for the password. */
  readonly fst?: 'email' | 'fed';
  /**
   * Of a login challenge: when the sign-in began in unix milliseconds, the account elsewhere that was the first factor, the person and
   * the session there. Absent for another factor.
   */
  readonly org?: readonly [since: number, id: string, person: string, session?: string];
  /** The store's continuity id at mint, so that a loss of spent tokens and of ends is detected. */
  readonly sto?: string;
  /** The ends of outstanding tokens that the store contained at mint: see {@link epochOf}. Absent without any. */
  readonly epo?: string;
}

/** The latest ends of the tokens of a purpose: for the user, and for all users of the guard. Null for none in the store. */
export type Ends = readonly (string | null)[];

/** The `epo` claim of a token that is minted while the store contains these ends. Pure. Undefined without any. */
export const epochOf = (ends: Ends): string | undefined =>
  ends.some((end) => end !== null) ? ends.map((end) => end ?? '').join('.') : undefined;

/**
 * Whether a token with this `epo` claim was minted after the latest ends. Pure. It compares random ids of ends and no
 * times, because the clocks of nodes differ. An end stays in the store as long as a token of the purpose can be valid, so
 * without one no token has ended.
 */
export function isOfEpoch(epo: string | undefined, ends: Ends): boolean {
  const known = epo?.split('.') ?? [];
  return ends.every((end, i) => end === null || end === known[i]);
}

/**
 * Whether a verified token is for this purpose and this guard, and is currently valid (RFC 8725 §3.11, §3.12).
 * The type of every claim is checked, and the lifetime is limited, because other issuers may share the key.
 *
 * @param now unix seconds
 */
export function isPurposeToken(
  header: Readonly<Record<string, unknown>>,
  claims: Readonly<Record<string, unknown>>,
  { type, issuer, audience, guard, leeway, longest }: PurposeExpectations,
  now: number,
): claims is Readonly<Record<string, unknown>> & PurposeClaims {
  const { iss, aud, sub, jti, fid, fpr, fst, org, rem, sto, epo, gid, nbf, exp } = claims;
  return (
    header.typ === type &&
    header.crit === undefined &&
    iss === issuer &&
    isSameList(aud, audience) &&
    isText(sub) &&
    isText(jti) &&
    (fid === undefined || isText(fid)) &&
    (fpr === undefined || isText(fpr)) &&
    (rem === undefined || rem === false) &&
    (fst === undefined || fst === 'email' || fst === 'fed') &&
    (org === undefined || isOrigin(org)) &&
    (sto === undefined || isText(sto)) &&
    (epo === undefined || isText(epo)) &&
    (gid === undefined || gid === guard) &&
    (nbf === undefined || (typeof nbf === 'number' && nbf <= now + leeway)) &&
    Number.isInteger(exp) &&
    (exp as number) > now - leeway &&
    (exp as number) <= now + longest + leeway
  );
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isOrigin = (org: unknown): boolean =>
  Array.isArray(org) && Number.isSafeInteger(org[0]) && [3, 4].includes(org.length) && org.slice(1).every(isText);

const isSameList = (given: unknown, expected: readonly string[]): boolean =>
  Array.isArray(given) && given.length === expected.length && given.every((item, i) => item === expected[i]);
