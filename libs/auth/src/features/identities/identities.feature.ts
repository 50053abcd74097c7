import { Realm, data, defineFeature, limiter, mailing, schema } from '../../kit';
import { IDENTITIES_OPTIONS } from './identities.options';
import { CreateSvcIdentities1764600000000, Identity } from './identity.entity';
import { EXPORTED, IdentityStore } from './identity.store';

/** Sign-in with providers of identities. */
export const identities = defineFeature('identities', {
  flags: ['identities'],
  load: () => (require('./identities.members') as typeof import('./identities.members')).MEMBERS,
  capabilities: {
    get identities() {
      return (require('./identities-flow') as typeof import('./identities-flow')).IdentityFlow;
    },
  },
  languages: () => (require('./identities.languages') as typeof import('./identities.languages')).identitiesLanguages,
  options: IDENTITIES_OPTIONS,
  configErrors: ({ guards }, production) =>
    guards
      .filter(({ features }) => features.identities)
      .flatMap(({ identities: { providers }, nameOf }) =>
        (require('./provider-faults') as typeof import('./provider-faults')).providerErrors(
          nameOf('identities.providers'),
          providers,
          production,
        ),
      ),
  limits: { 'svc-identities': limiter.perClient(({ identities: limit }) => limit) },
  waits: {
    'sign-in with a provider': { row: '`POST /identities/:svcProvider/callback`', inARow: 8, longest: 1 },
    'registration with a provider': {
      row: '`POST /identities/:svcProvider/callback`, new account',
      inARow: 9,
      longest: 3,
    },
  },
  mails: { identityLinked: mailing.CHANGE_MAIL, identityUnlinked: mailing.CHANGE_MAIL },
  exportedIfUsed: { identities: schema.listOf(EXPORTED) },
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
