/**
 * Sign-in with Google, Entra, or any OpenID provider. For code that runs in Nest.
 *
 * ```ts
 * import { google, oidc } from '@svc/auth/identities';
 * ```
 *
 * @module @svc/auth/identities
 */
export {
  BadContinuation,
  BadLogoutToken,
  IdentityNotFound,
  IdentityNotLinked,
  IdentityTaken,
  LastIdentity,
  NoSuchProvider,
  ProviderRefused,
  ProviderUnavailable,
} from './identities.errors';
export { IdentityFlow } from './identities-flow';
export { Identity } from './identity.entity';
export { IdentityLinked, IdentityUnlinked } from './identities.events';
export { apple, github, gitlab, google, keycloak, microsoft, oidc } from './providers';
export type { IdentityAnswer } from './identities-flow';
export type { IdentitiesOptions } from './identities.options';
export type { ListedIdentity } from './identity.store';
export type { RegistrationRequired } from './identity-registration';
export type { BegunAttempt } from './attempts';
export type { CallbackAnswer } from './identity-sign-in';
export type {
  AppleOptions,
  ClientKey,
  GithubOptions,
  GoogleOptions,
  IdentityProvider,
  KeycloakOptions,
  MicrosoftOptions,
  OidcOptions,
  ProviderOptions,
} from './provider-options';
