/** What the decision needs to know of a presented refresh token. Times are epoch seconds of the database's clock. */
export interface PresentedToken {
  readonly rotatedAt: number | null;
  readonly expiresAt: number;
  readonly revokedAt: number | null;
  /** The database's now, read in the statement that read the token. */
  readonly now: number;
}

/** `first` and `sibling` are honoured; everything else is refused. */
export type Verdict = 'first' | 'sibling' | 'unknown' | 'revoked' | 'expired' | 'reuse';

/**
 * What a presented refresh token deserves. Pure: the whole replay defence is these lines.
 *
 * A replaced token is honoured for `graceSeconds` after its first exchange, boundary included, because
 * an honest client repeats a request whose answer it never saw. Without grace it is never honoured again.
 */
export function judge(token: PresentedToken | null, graceSeconds: number): Verdict {
  if (!token) return 'unknown';
  if (token.revokedAt !== null) return 'revoked';
  if (token.expiresAt < token.now) return 'expired';
  if (token.rotatedAt === null) return 'first';
  return graceSeconds > 0 && token.rotatedAt + graceSeconds >= token.now ? 'sibling' : 'reuse';
}

/** Whether a verdict lets the exchange go on. */
export const isHonoured = (verdict: Verdict): boolean => verdict === 'first' || verdict === 'sibling';

/** Whether a refusal ends the session. A token that is merely unknown or too old accuses nobody. */
export const endsSession = (verdict: Verdict, reuseDetection: boolean): boolean =>
  verdict === 'revoked' || (verdict === 'reuse' && reuseDetection);
