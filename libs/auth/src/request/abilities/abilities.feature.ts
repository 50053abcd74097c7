import type { Feature } from '../../foundation/realm/feature';
import { AbilityGate, AbilityDenials } from './ability.gate';
import { AbilityResolver } from './granted-scope';
import { PinnedAbilityGate } from './pinned-ability.gate';
import { UserResources } from './user-resource';

/** What tokens may do, and who holds them to it. */
export const abilities: Feature = {
  providers: [AbilityResolver, AbilityDenials, AbilityGate, PinnedAbilityGate, UserResources],
};
