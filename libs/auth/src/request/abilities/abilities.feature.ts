import { defineFeature } from '../../foundation/realm/feature';
import { AbilityGate, AbilityDenials } from './ability.gate';
import { AbilityResolver } from './granted-scope';
import { UserResources } from './user-resource';

/** The abilities of tokens, and the gates that check them. */
export const abilities = defineFeature('abilities', {
  providers: [AbilityResolver, AbilityDenials, AbilityGate, UserResources],
});
