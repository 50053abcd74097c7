import type { Feature } from '../realm/feature';
import { AbilityGate } from './ability.gate';
import { Denials } from './denials';
import { Grants } from './grants';
import { PinnedAbilityGate } from './pinned-ability.gate';
import { UserResources } from './user-resources';

/** What tokens may do, and who holds them to it. */
export const abilities: Feature = {
  providers: [Grants, Denials, AbilityGate, PinnedAbilityGate, UserResources],
};
