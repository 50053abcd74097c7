import { applyDecorators } from '@nestjs/common';
import { AuthenticationGate } from '../http/authentication.gate';
import { requires } from '../http/requires';
import { AbilityGate, Requirements } from './ability.gate';
import { type Requirement, requirement } from './requirement';

type RouteDecorator = ClassDecorator & MethodDecorator;

const gate = (met: Requirement['met'], names: readonly string[]): RouteDecorator =>
  applyDecorators(Requirements.with(requirement(names, met)), requires(AuthenticationGate, AbilityGate));

/**
 * Requires a valid token that covers all of `names`: 403 with the RFC 6750 challenge otherwise. A handler
 * adds to what its controller requires.
 *
 * @example \@Abilities('orders.read', 'orders.export')
 * @throws AuthConfigError when the class is loaded, for no names or names that no token can have
 * @publicApi
 */
export const Abilities = (...names: [string, ...string[]]): RouteDecorator => gate('every', names);

/**
 * Requires a valid token that covers any of `names`; otherwise as {@link Abilities}.
 *
 * @publicApi
 */
export const AnyAbility = (...names: [string, ...string[]]): RouteDecorator => gate('some', names);
