import { type manifest, Realm, event } from '../../kit';
import { AccountIdentities } from './account-identities';
import { AttemptDelivery, IdentityAttempts, IdentityCookie } from './attempts';
import { ConfirmIdentityController, IdentitiesController } from './identities.controller';
import { IDENTITY_REASONS } from './identities.errors';
import { IDENTITY_EVENTS, IdentityLinked, IdentityUnlinked } from './identities.events';
import { IdentityOwners } from './identity.store';
import { IdentityConfirmation } from './identity-confirmation';
import { IdentityRegistration } from './identity-registration';
import { IdentitySignIn, isLinked } from './identity-sign-in';
import { IDENTITY_PROVIDERS, ProviderClients } from './protocol/provider-clients';
import { ProviderLogouts } from './provider-logout';

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends Readonly<typeof IDENTITY_REASONS> {}
}

/** What a process with the feature loads: see `Feature.load`. */
export const MEMBERS: Partial<manifest.Feature> = {
  reasons: IDENTITY_REASONS,
  controllers: [IdentitiesController, ConfirmIdentityController],
  informs: {
    identityLinked: [event.informOn(IdentityLinked, event.userIdOf)],
    identityUnlinked: [event.informOn(IdentityUnlinked, event.userIdOf)],
  },
  cookies: [IdentityCookie],
  events: IDENTITY_EVENTS,
  providers: [
    { provide: IDENTITY_PROVIDERS, useFactory: ({ options }: Realm) => options.identities.providers, inject: [Realm] },
    ProviderClients,
    IdentityCookie,
    IdentityAttempts,
    AttemptDelivery,
    ProviderLogouts,
    IdentityOwners,
    IdentityRegistration,
    IdentitySignIn,
    AccountIdentities,
    IdentityConfirmation,
  ],
  on: {
    originCurrent: isLinked,
    signInWays: async (services, userId) => (sql) => services.get(AccountIdentities).waysOf(sql, userId),
    confirmsWith: (services, userId) => services.get(IdentityConfirmation).methodsOf(userId),
    takeover: (services, taken) => services.get(AccountIdentities).removeAll(taken),
    removeCredential: {
      kind: 'identities',
      remove: (services, named) => services.get(AccountIdentities).removeNamed(named),
    },
  },
};
