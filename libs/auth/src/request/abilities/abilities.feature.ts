import { defineFeature } from '../../foundation/realm/feature';
import { AbilityGate, AbilityDenials } from './ability.gate';
import { AbilityResolver } from './granted-scope';
import { UserResources } from './user-resource';
import { feature, value } from '../../foundation/config/option-table';

/** The abilities of tokens, and the gates that check them. */
export const abilities = defineFeature('abilities', {
  options: {
    features: {
      abilities: feature({ default: false, env: 'FEATURE_ABILITIES' }),
      gateAuthRoutes: feature({ default: true, env: 'FEATURE_GATE_AUTH_ROUTES' }),
    },
    hooks: { abilities: value({ inherited: true }) },
  },
  providers: [AbilityResolver, AbilityDenials, AbilityGate, UserResources],
});
