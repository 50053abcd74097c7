import type { ClaimRules, IdentityProvider } from '../provider-options';

/** The verified answer of a provider. Every text is bounded: subject and sid by 255 characters, email by 254. */
export interface ProviderIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** As the provider gives it; a claim only. Null for a text that is no address. */
  readonly email: string | null;
  /** Whether the provider says that it has verified the address: see `provesAddress`. */
  readonly emailVerified: boolean;
  readonly name: string | null;
  readonly amr: readonly string[];
  readonly acr: string | null;
  /** Unix seconds. */
  readonly authTime: number | null;
  readonly sid: string | null;
}

export type Claims = Readonly<Record<string, unknown>>;

/** OpenID Connect Core §2: at most 255 ASCII characters. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

export const TENANT_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/**
 * The identity that verified claims state, or why they are refused. Every other claim of a wrong type counts as absent.
 *
 * @param claims of the ID token and of the answer of the UserInfo endpoint with the same subject
 */
export function identityOf(claims: Claims, rules: ClaimRules): ProviderIdentity | { readonly refused: string } {
  const { iss, sub } = claims;
  if (typeof iss !== 'string' || typeof sub !== 'string' || !SUBJECT.test(sub))
    return { refused: 'the subject is invalid' };
  const { oneOf, tenants } = rules;
  // The issuer names the tenant, too. Both are signed, but only the exact pair is one that Entra issues.
  if (tenants && !isTenant(iss, claims.tid, tenants)) return { refused: 'the tenant may not sign in' };
  if (oneOf && !oneOf.values.includes(claims[oneOf.claim] as string))
    return { refused: `${oneOf.claim} may not sign in` };
  const email = addressOf(claims.email);
  return {
    issuer: iss,
    subject: sub,
    email,
    emailVerified: email !== null && isVerified(claims, rules.emailVerified),
    name: nameOf(claims.name),
    amr: Array.isArray(claims.amr) ? claims.amr.flatMap((method) => textOf(method, 64) ?? []).slice(0, 20) : [],
    acr: textOf(claims.acr, 255),
    authTime: Number.isSafeInteger(claims.auth_time) ? (claims.auth_time as number) : null,
    sid: textOf(claims.sid, 255),
  };
}

/** Whether an issuer is that of a tenant whose members may sign in. */
export function isTenant(iss: string, tid: unknown, { of, issuer }: NonNullable<ClaimRules['tenants']>): boolean {
  if (typeof tid !== 'string' || !TENANT_ID.test(tid) || iss !== issuer.replace('{tenantid}', tid)) return false;
  return of === 'any' || of.includes(tid);
}

/** Exactly `true`: a provider may write "false", which is true for JavaScript. */
function isVerified(claims: Claims, by: ClaimRules['emailVerified']): boolean {
  if (by === 'xms_edov') return [true, 1, '1', 'true'].includes(claims.xms_edov as string);
  return claims.email_verified === true || (by === 'text' && claims.email_verified === 'true');
}

/** The shape of an address, at most 254 characters (RFC 5321 §4.5.3.1). The registration has further rules. */
const addressOf = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= 254 && /^[^\s\p{C}@]+@[^\s\p{C}@]+$/u.test(value) ? value : null;

const textOf = (value: unknown, max: number): string | null =>
  typeof value === 'string' && value !== '' && value.length <= max && !/\p{Cc}/u.test(value) ? value : null;

/** A name without control characters and unpaired surrogates, at most 255 characters. */
function nameOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const visible = value
    .slice(0, 1024)
    .replaceAll(/[\p{Cc}\p{Cs}]/gu, '')
    .trim();
  return Array.from(visible).slice(0, 255).join('') || null;
}

/** The name in the form that Apple posts at the first sign-in. The browser could change it, as a person could in a form. */
export function nameOfForm(user: string | null): string | null {
  try {
    const { name } = JSON.parse(user ?? '') as { name?: { firstName?: unknown; lastName?: unknown } };
    return nameOf([name?.firstName, name?.lastName].filter((part) => typeof part === 'string').join(' '));
  } catch {
    return null;
  }
}

/**
 * Whether the provider has asked the person again after the attempt began. A time that is not over yet says nothing.
 *
 * @param attempt unix times in milliseconds
 * @param toleranceSeconds difference of the clocks
 */
export const isFresh = (
  { authTime }: Pick<ProviderIdentity, 'authTime'>,
  { beganAt, now }: { readonly beganAt: number; readonly now: number },
  toleranceSeconds: number,
): boolean =>
  authTime !== null &&
  authTime >= Math.floor(beganAt / 1000) - toleranceSeconds &&
  authTime <= Math.ceil(now / 1000) + toleranceSeconds;

/** Whether the provider has verified the address, and the host has made it the authority for the domain of the address. */
export function provesAddress(
  { email, emailVerified }: Pick<ProviderIdentity, 'email' | 'emailVerified'>,
  authorityFor: readonly string[] | 'any',
): boolean {
  if (!emailVerified || email === null) return false;
  return authorityFor === 'any' || authorityFor.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase());
}

/** Whether the provider has verified two factors, and the host believes it. */
export const provesTwoFactors = (
  { amr, acr }: Pick<ProviderIdentity, 'amr' | 'acr'>,
  { secondFactor, acrOfTwoFactors }: Pick<IdentityProvider, 'secondFactor' | 'acrOfTwoFactors'>,
): boolean => secondFactor === 'provider' && (amr.includes('mfa') || (acr !== null && acrOfTwoFactors.includes(acr)));
