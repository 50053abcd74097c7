import type { Feature } from '../../foundation/realm/feature';
import { AbilityGate, Denials } from './ability.gate';
import { Grants } from './granted-scope';
import { PinnedAbilityGate } from './pinned-ability.gate';
import { UserResources } from './user-resource';

/** What tokens may do, and who holds them to it. */
export const abilities: Feature = {
  providers: [Grants, Denials, AbilityGate, PinnedAbilityGate, UserResources],
};
