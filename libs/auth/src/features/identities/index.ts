/**
 * Sign-in with Google, Entra, or any OpenID provider. For code that runs in Nest.
 *
 * ```ts
 * import { oidc } from '@svc/auth/identities';
 * ```
 *
 * @module @svc/auth/identities
 */
export type { IdentitiesOptions } from './identities.options';
export type { IdentityProvider } from './providers';
