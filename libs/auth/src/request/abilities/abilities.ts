import type { CanActivate, Type } from '@nestjs/common';
import { AuthConfigError } from '../../foundation/platform/errors';
import { type TokenSource, grantIn } from '../../identity/tokens/caller';
import { AuthenticationGate } from '../gates/authenticated';
import { guardWith, requires } from '../gates/route-guard';
import { DetailedGate, type RouteGate } from '../gates/route-plan';
import { AbilityGate } from './ability.gate';
import { flawOf } from './ability.policy';
import { type Requirement, requirement } from './requirement';

type RouteDecorator = ClassDecorator & MethodDecorator;

const gates = (met: Requirement['met'], names: readonly string[]): RouteGate[] => [
  AuthenticationGate,
  new DetailedGate(AbilityGate, requirement(names, met)),
];

/**
 * Requires a valid token that covers all of `names`; otherwise the response is 403 with the challenge of RFC 6750 §3.1.
 * The requirements of a handler and of its controller both apply.
 *
 * @example \@Abilities('orders.read', 'orders.export')
 * @throws AuthConfigError when the class is loaded, if there are no names or if a token cannot have a name
 * @publicApi
 */
export const Abilities = (...names: [string, ...string[]]): RouteDecorator => requires(...gates('every', names));

/**
 * Requires a valid token that covers at least one of `names`. In all other respects it works like {@link Abilities}.
 *
 * @publicApi
 */
export const AnyAbility = (...names: [string, ...string[]]): RouteDecorator => requires(...gates('some', names));

/**
 * Returns a Nest guard for `@UseGuards` with the same rules as {@link Abilities}: it authenticates the request first.
 *
 * @example \@UseGuards(AbilitiesGuard('orders.read', 'orders.export'))
 * @throws AuthConfigError as {@link Abilities} does
 * @publicApi
 */
export function AbilitiesGuard(...names: [string, ...string[]]): Type<CanActivate> {
  return guardWith(gates('every', names));
}

/**
 * Returns a Nest guard for `@UseGuards` with the same rules as {@link AnyAbility}. In all other respects it works like
 * {@link AbilitiesGuard}.
 *
 * @publicApi
 */
export function AnyAbilityGuard(...names: [string, ...string[]]): Type<CanActivate> {
  return guardWith(gates('some', names));
}

/**
 * Returns whether a verified token covers an ability, with the same result as `@Abilities`.
 *
 * @param from a request, its caller, or the user object that a guard put on the request. If several guards authenticated
 * the request, the last one counts. Without a verified token the result is false: see {@link TokenSource}
 * @example if (tokenCan(user, 'orders.export')) { … }
 * @publicApi
 */
export const tokenCan = (from: TokenSource, ability: string): boolean => grantIn(from).covers(ability);

/**
 * The opposite of {@link tokenCan}: true also without a verified token.
 *
 * @publicApi
 */
export const tokenCannot = (from: TokenSource, ability: string): boolean => !tokenCan(from, ability);

/**
 * Returns the abilities of a verified token as the token lists them, with wildcards. Without a verified token the list is
 * empty. To check an ability, use {@link tokenCan}.
 *
 * @publicApi
 */
export const tokenAbilities = (from: TokenSource): readonly string[] => grantIn(from).abilities;

/** The ability decorators, their guards, and {@link tokenCan}, restricted to the declared ability names. */
export interface DeclaredAbilities<Name extends string> {
  readonly Abilities: (...names: [Name, ...Name[]]) => ClassDecorator & MethodDecorator;
  readonly AnyAbility: (...names: [Name, ...Name[]]) => ClassDecorator & MethodDecorator;
  readonly AbilitiesGuard: (...names: [Name, ...Name[]]) => Type<CanActivate>;
  readonly AnyAbilityGuard: (...names: [Name, ...Name[]]) => Type<CanActivate>;
  readonly tokenCan: (from: TokenSource, ability: Name) => boolean;
  readonly tokenCannot: (from: TokenSource, ability: Name) => boolean;
  /** All declared names, for example for `hooks.abilities` to return. */
  readonly names: readonly Name[];
}

/**
 * Declares the ability names of an application once, so that the compiler finds a mistyped name.
 *
 * @example
 * // abilities.ts
 * export const { Abilities, AnyAbility, tokenCan } = defineAbilities('orders.read', 'orders.write');
 * @throws AuthConfigError for a name that a token cannot have
 * @publicApi
 */
export function defineAbilities<const Name extends string>(...names: [Name, ...Name[]]): DeclaredAbilities<Name> {
  const flaw = names.map(flawOf).find(Boolean);
  if (flaw) throw new AuthConfigError(flaw);
  return { Abilities, AnyAbility, AbilitiesGuard, AnyAbilityGuard, tokenCan, tokenCannot, names };
}
