import { defineFeature, limiter } from '../../kit';
import { IDENTITIES_OPTIONS } from './identities.options';

/** Sign-in with providers of identities. */
export const identities = defineFeature('identities', {
  flags: ['identities'],
  languages: () => (require('./identities.languages') as typeof import('./identities.languages')).identitiesLanguages,
  options: IDENTITIES_OPTIONS,
  limits: {
    'svc-identities': limiter.perClient(({ identities: limit }) => limit),
  },
  controllers: [],
  providers: [],
});
