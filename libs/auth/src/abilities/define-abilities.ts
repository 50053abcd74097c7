import { AuthConfigError } from '../kernel/auth.exception';
import { Abilities, AnyAbility } from './abilities.decorator';
import { flawOf } from './ability.policy';
import type { TokenSource } from '../tokens/token-source';
import { tokenCan } from './token-can';

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
