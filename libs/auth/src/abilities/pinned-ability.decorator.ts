import { applyDecorators } from '@nestjs/common';
import { requires } from '../http/requires';
import { PinnedAbilityGate, PinnedRequirements } from './pinned-ability.gate';

/** The abilities that pinned sessions need for the library's own routes. */
export type BuiltInAbility = 'svc.sessions' | 'svc.account' | 'svc.account.delete';

/**
 * Requires an ability of pinned sessions; for routes of the library, beside `@Authenticated()`.
 *
 * @param always whether it holds although `features.gateAuthRoutes` is off
 */
export const PinnedNeeds = (ability: BuiltInAbility, always = false): MethodDecorator =>
  applyDecorators(PinnedRequirements.with({ abilities: [ability], met: 'some', always }), requires(PinnedAbilityGate));
