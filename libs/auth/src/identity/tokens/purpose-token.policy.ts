/** What a token of one purpose must say. */
export interface PurposeExpectations {
  /** The `typ` header of its purpose. */
  type: string;
  issuer: string;
  audience: readonly string[];
  guard: string;
  leeway: number;
  /** Seconds that a token of the purpose may live. */
  longest: number;
}

/** The claims of a challenge or confirmation token that passed. */
export interface PurposeClaims {
  readonly sub: string;
  readonly jti: string;
  readonly exp: number;
  /** The session that earned it; absent where its bearer named none. */
  readonly fid?: string;
  /** Keyed fingerprint of the password's hash that earned a login challenge. */
  readonly fpr?: string;
  /** The continuity of the store in which it is known whether it was spent; absent where that does not matter. */
  readonly sto?: string;
}

/**
 * Whether a verified token is of this purpose, for this guard, and in its time (RFC 8725 §3.11, §3.12).
 * Every claim is checked by type: whoever shares the key could mint an odd one, or one for ever.
 *
 * @param now unix seconds
 */
export function isPurposeToken(
  header: Readonly<Record<string, unknown>>,
  claims: Readonly<Record<string, unknown>>,
  { type, issuer, audience, guard, leeway, longest }: PurposeExpectations,
  now: number,
): claims is Readonly<Record<string, unknown>> & PurposeClaims {
  const { iss, aud, sub, jti, fid, fpr, sto, gid, nbf, exp } = claims;
  return (
    header.typ === type &&
    header.crit === undefined &&
    iss === issuer &&
    isSameList(aud, audience) &&
    isText(sub) &&
    isText(jti) &&
    (fid === undefined || isText(fid)) &&
    (fpr === undefined || isText(fpr)) &&
    (sto === undefined || isText(sto)) &&
    (gid === undefined || gid === guard) &&
    (nbf === undefined || (typeof nbf === 'number' && nbf <= now + leeway)) &&
    Number.isInteger(exp) &&
    (exp as number) > now - leeway &&
    (exp as number) <= now + longest + leeway
  );
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isSameList = (given: unknown, wanted: readonly string[]): boolean =>
  Array.isArray(given) && given.length === wanted.length && given.every((one, i) => one === wanted[i]);
