import { Realm, data, defineFeature, event, limiter, mailing, schema } from '../../kit';
import { AccountIdentities } from './account-identities';
import { AccountIdentitiesController, ConfirmIdentityController, EXPORTED } from './account-identities.controller';
import { AttemptDelivery, IdentityAttempts, IdentityCookie } from './attempts';
import { IdentityFlow } from './identities-flow';
import { IdentitiesController } from './identities.controller';
import { IDENTITY_REASONS } from './identities.errors';
import { IDENTITIES_OPTIONS } from './identities.options';
import { CreateSvcIdentities1764600000000, Identity } from './identity.entity';
import { IdentityOwners, IdentityStore } from './identity.store';
import { IdentityRegistration } from './identity-registration';
import { IdentitySignIn, isLinked } from './identity-sign-in';
import { IDENTITY_PROVIDERS, ProviderClients } from './protocol/provider-clients';
import { PROVIDER_REASONS } from './protocol/provider.errors';
import { providerErrors } from './provider-faults';
import { ProviderLogouts } from './provider-logout';
import { IDENTITY_EVENTS, IdentityLinked, IdentityUnlinked } from './identities.events';
import { IdentityConfirmation } from './identity-confirmation';

const reasons = { ...IDENTITY_REASONS, ...PROVIDER_REASONS };

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends Readonly<typeof reasons> {}
}

/** Sign-in with providers of identities. */
export const identities = defineFeature('identities', {
  flags: ['identities'],
  reasons,
  languages: () => (require('./identities.languages') as typeof import('./identities.languages')).identitiesLanguages,
  options: IDENTITIES_OPTIONS,
  configErrors: ({ guards }, production) =>
    guards
      .filter(({ features }) => features.identities)
      .flatMap(({ identities: { providers }, nameOf }) =>
        providerErrors(nameOf('identities.providers'), providers, production),
      ),
  limits: {
    'svc-identities': limiter.perClient(({ identities: limit }) => limit),
  },
  waits: {
    'sign-in with a provider': { row: '`POST /identities/:svcProvider/callback`', inARow: 8, longest: 1 },
    'registration with a provider': {
      row: '`POST /identities/:svcProvider/callback`, new account',
      inARow: 9,
      longest: 3,
    },
  },
  capabilities: { identities: IdentityFlow },
  // In this order: a path of the account would be the name of a provider.
  controllers: [AccountIdentitiesController, IdentitiesController, ConfirmIdentityController],
  mails: { identityLinked: mailing.CHANGE_MAIL, identityUnlinked: mailing.CHANGE_MAIL },
  informs: {
    identityLinked: [event.informOn(IdentityLinked, event.userIdOf)],
    identityUnlinked: [event.informOn(IdentityUnlinked, event.userIdOf)],
  },
  exportedIfUsed: { identities: schema.listOf(EXPORTED) },
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
    removeCredential: (services, named) => services.get(AccountIdentities).removeNamed(named),
  },
  data: {
    entities: [{ entity: Identity, migration: CreateSvcIdentities1764600000000 }],
    stores: [IdentityStore],
    export: {
      identities: async (services, userId) =>
        data.ifUsed(await services.get(IdentityStore).export(userId), services.get(Realm).options.features.identities),
    },
    erase: [data.rowsOfUser(Identity)],
    prune: { identities: { title: 'identities', run: (services) => services.get(IdentityStore).prune() } },
  },
});
