/**
 * A provider of identities, made by `oidc()` or one of the presets.
 *
 * @publicApi
 */
export interface IdentityProvider {
  /** The issuer of its tokens. */
  readonly issuer: string;
  /** The exact addresses to which it returns the browser. */
  readonly redirectUris: readonly string[];
  /** The page that makes the callback, after a `form_post`. */
  readonly pageUrl?: string;
  /** How it returns its answer. */
  readonly responseMode: 'query' | 'form_post';
  /** Whether users with a second factor are asked for it, or the factor of the provider is enough. */
  readonly secondFactor: 'ask' | 'provider';
  /** The domains for whose addresses its `email_verified` is believed. */
  readonly authorityFor: readonly string[] | 'any';
}
