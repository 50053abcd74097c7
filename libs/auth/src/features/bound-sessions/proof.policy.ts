/** The algorithms of proofs (RFC 7518 §3.1, RFC 9864 §2.2). */
export const PROOF_ALGORITHMS = ['ES256', 'EdDSA', 'Ed25519'] as const;

/** What is wrong with a proof, for the client that has made it. Names the claim (RFC 9449 §4.3). */
export type ProofFault = 'form' | 'jti' | 'htm' | 'htu' | 'iat' | 'nonce' | 'ath' | 'replayed';

/** The claims of a proof of which the signature was verified. */
export interface ProofClaims {
  readonly jti?: unknown;
  readonly htm?: unknown;
  readonly htu?: unknown;
  readonly iat?: unknown;
  readonly nonce?: unknown;
}

/** What a proof is checked against. Times are unix seconds. */
export interface ProofTarget {
  /** The method of the request; undefined where the transport has none. */
  readonly method: string | undefined;
  /** The addresses of the request, one for each under which clients reach the application. */
  readonly addresses: readonly string[];
  readonly now: number;
  /** `boundSessions.proofSeconds` */
  readonly proofSeconds: number;
  /** `boundSessions.nonceSeconds` */
  readonly nonceSeconds: number;
  /** When the server made the nonce of the proof; null for a text that is no nonce of this guard. */
  readonly nonceAt: number | null;
  /** Proofs that were made before are not accepted: the store that remembered them was replaced. */
  readonly since: number;
}

/**
 * What is wrong with the claims of a proof; null if nothing is. Pure. A nonce of the server takes the place of the time of the
 * client, which may have a wrong clock.
 */
export function proofFault({ jti, htm, htu, iat }: ProofClaims, target: ProofTarget): ProofFault | null {
  if (typeof jti !== 'string' || jti === '') return 'jti';
  // Methods are case-sensitive (RFC 9110 §9.1).
  if (typeof htm !== 'string' || htm !== target.method) return 'htm';
  if (!target.addresses.some((one) => isSameAddress(htu, one))) return 'htu';
  if (!Number.isSafeInteger(iat)) return 'iat';
  const { now, nonceSeconds, nonceAt, since } = target;
  if (nonceSeconds > 0)
    return nonceAt !== null && nonceAt >= since && isNear(nonceAt, now, nonceSeconds) ? null : 'nonce';
  return isNear(iat as number, now, target.proofSeconds) && (iat as number) >= since ? null : 'iat';
}

const isNear = (time: number, now: number, seconds: number): boolean => Math.abs(now - time) <= seconds;

/**
 * The path of the target of a request as received (RFC 9112 §3.2); null for one that `URL` would change, so that a proof for another
 * path could match it. Pure.
 */
export function pathOfTarget(target: string): string | null {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)[0]!;
  const isChanged = /[^!-[\]-~]|\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path);
  return isChanged ? null : path || '/';
}

/** Texts are compared first: most clients send the address as it is. */
const isSameAddress = (htu: unknown, address: string): boolean => {
  const known = comparable(address);
  return known !== null && (htu === known || comparable(htu) === known);
};

/** An address without query and fragment, in the form in which equal ones are the same text (RFC 3986 §6.2.2 and §6.2.3). */
function comparable(address: unknown): string | null {
  if (typeof address !== 'string' || !URL.canParse(address)) return null;
  const { protocol, host, pathname } = new URL(address);
  const scheme = { 'ws:': 'http:', 'wss:': 'https:' }[protocol] ?? protocol;
  return `${scheme}//${host}${pathname.replaceAll(/%[0-9a-f]{2}/gi, (code) => decoded(code))}`;
}

/** Unreserved characters need no encoding (RFC 3986 §2.3). */
function decoded(code: string): string {
  const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
  return /[\w.~-]/.test(character) ? character : code.toUpperCase();
}

/** An access token as it was presented, and what its sender has proved. */
export interface PresentedToken {
  /** The scheme of `Authorization`, in lower case. */
  readonly scheme: string;
  /** The thumbprint of the key to which the token is bound; null for none. */
  readonly jkt: string | null;
  /** The hash of the token, as a proof for it names it. */
  readonly ath: string;
  /** The proof of the request; null without one. */
  readonly proof: { readonly jkt: string | null; readonly ath?: unknown } | null;
  /** `boundSessions.mode` */
  readonly mode: 'allow' | 'require';
}

/**
 * - `unbound`: the token is bound to no key, but the guard requires one, or the scheme promises one.
 * - `unproved`: the token is bound, and was sent without a proof, or as one for its bearer.
 * - `other_key`: the proof is of another key.
 * - `other_token`: the proof is for another token, or for none.
 */
export type TokenRefusal = 'unbound' | 'unproved' | 'other_key' | 'other_token';

/** Why the sender of an access token may not use it; null if it may (RFC 9449 §7.1). Pure. */
export function tokenRefusal({ scheme, jkt, ath, proof, mode }: PresentedToken): TokenRefusal | null {
  if (jkt === null) return mode === 'require' || scheme === 'dpop' ? 'unbound' : null;
  if (scheme !== 'dpop' || proof === null) return 'unproved';
  if (proof.jkt !== jkt) return 'other_key';
  return proof.ath === ath ? null : 'other_token';
}

/**
 * Whether the sender of a refresh token may use its session. Pure. A session without a key stays one, because a thief of its token
 * could bind it.
 *
 * @param session the thumbprint of the key of the session; null for none
 * @param proved the thumbprint of the key that the sender has proved; null for none
 */
export const isHolderOf = (session: string | null, proved: string | null, mode: 'allow' | 'require'): boolean =>
  session === null ? mode === 'allow' : session === proved;

/**
 * Whether a wrong proof may be that of a thief of the token. Pure. The client of the session can have a wrong clock, address or
 * nonce, but another party has no new proof of its key.
 *
 * @param jkt the thumbprint of the key of the session; null for none
 */
export const isTheft = (
  proof: { readonly jkt: string | null; readonly fault: ProofFault | null },
  jkt: string | null,
): boolean => jkt !== null && (proof.jkt !== jkt || proof.fault === 'replayed');
