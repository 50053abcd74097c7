import { applyDecorators } from '@nestjs/common';
import { AuthConfigError } from '../../foundation/platform/errors';
import { type TokenSource, callerIn } from '../../identity/tokens/caller';
import { AuthenticationGate } from '../gates/authenticated';
import { requires } from '../gates/route-guard';
import { AbilityGate, Requirements } from './ability.gate';
import { flawOf } from './ability.policy';
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

/**
 * Whether the verified token of a request covers an ability: the same answer that `@Abilities` gives. False
 * without a request and without a verified token. Of several guards' callers, the last one speaks.
 *
 * @example if (tokenCan(request, 'orders.export')) { … }
 * @publicApi
 */
export const tokenCan = (from: TokenSource, ability: string): boolean => callerIn(from)?.grant.covers(ability) ?? false;

/** The ability decorators and {@link tokenCan}, for a host's own ability names only. */
export interface DeclaredAbilities<Name extends string> {
  readonly Abilities: (...names: [Name, ...Name[]]) => ClassDecorator & MethodDecorator;
  readonly AnyAbility: (...names: [Name, ...Name[]]) => ClassDecorator & MethodDecorator;
  readonly tokenCan: (from: TokenSource, ability: Name) => boolean;
  /** Every declared name, as `hooks.abilities` may return them. */
  readonly names: readonly Name[];
}

/**
 * Declares the ability names of an application once, so that the compiler finds a mistyped one.
 *
 * @example
 * // abilities.ts
 * export const { Abilities, AnyAbility, tokenCan } = defineAbilities('orders.read', 'orders.write');
 * @throws AuthConfigError for a name that no token can have
 * @publicApi
 */
export function defineAbilities<const Name extends string>(...names: [Name, ...Name[]]): DeclaredAbilities<Name> {
  const flaw = names.map(flawOf).find(Boolean);
  if (flaw) throw new AuthConfigError(flaw);
  return { Abilities, AnyAbility, tokenCan, names };
}
