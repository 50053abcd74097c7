/**
 * An identity provider of a guard, made by {@link oidc}, {@link google}, {@link microsoft}, {@link apple}, {@link gitlab},
 * {@link keycloak} or {@link github}. Its secrets are neither enumerable nor printed.
 *
 * @publicApi
 */
export interface IdentityProvider {
  /** The issuer of identities. With several tenants, the issuer of an identity is that of its tenant. */
  readonly issuer: string;
  /** The exact list of pages to which the provider sends the browser back. The first is the default. */
  readonly redirectUris: readonly string[];
  /** With `form_post`: the page that gets the handle of the answer, because a page cannot receive a form. */
  readonly pageUrl?: string;
  readonly responseMode: 'query' | 'form_post';
  readonly secondFactor: 'ask' | 'provider';
  /** Values of `acr` that mean two factors, beside `mfa` in `amr`. */
  readonly acrOfTwoFactors: readonly string[];
  /** The domains of email addresses whose owners the provider knows, lower case. */
  readonly authorityFor: readonly string[] | 'any';
  /** Whether the provider asks the person again on request, and says when it has. Only then can it confirm actions. */
  readonly canConfirm: boolean;
  /** Whether signing out here offers signing out at the provider. */
  readonly endSession: boolean;
}
