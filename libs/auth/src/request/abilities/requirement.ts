import { AuthConfigError } from '../../foundation/platform/errors';
import type { Grant } from '../../identity/users/grant';
import { flawOf, flawOfScope } from './ability.policy';

/** Abilities that a route requires: every one of them, or at least one. */
export interface Requirement {
  readonly abilities: readonly string[];
  readonly met: 'every' | 'some';
}

const NO_ABILITY =
  "An ability gate names no ability. Name one, such as @Abilities('orders.read'); @Authenticated() alone accepts any signed-in user.";

/**
 * Parses the arguments of a decorator. A comma separates names: `'a,b'` means two abilities, because no token can have
 * an ability with a comma.
 *
 * @throws AuthConfigError for an invalid name, or without any name: no token can meet such a requirement. An empty name is
 * not left out, because a requirement with one name less admits more tokens
 */
export function requirement(given: readonly unknown[], met: Requirement['met']): Requirement {
  const abilities = given.flatMap((item) =>
    typeof item === 'string' ? item.split(',').map((name) => name.trim()) : [item],
  );
  const flaw = abilities.length ? abilities.map(flawOf).find(Boolean) : NO_ABILITY;
  if (flaw) throw new AuthConfigError(flaw);
  return { abilities: [...new Set(abilities as string[])], met };
}

/** Whether a grant meets a requirement. No grant meets an empty requirement. */
export const isMet = ({ abilities, met }: Requirement, grant: Grant): boolean =>
  abilities.length > 0 && abilities[met]((ability) => grant.covers(ability));

/**
 * Converts a list of abilities from the host to the `scope` text that is stored and signed. Duplicates count once. A single
 * string is one ability, not a list.
 *
 * @throws AuthConfigError for a value that is not a list, an invalid or empty name, or a name or scope that is too long
 */
export function scopeOf(abilities: Iterable<unknown> | string): string {
  const names = [...new Set(listOf(abilities).map(asText))];
  const scope = names.join(' ');
  const flaw = names.map(flawOf).find(Boolean) ?? flawOfScope(scope);
  if (flaw) throw new AuthConfigError(flaw);
  return scope;
}

function listOf(abilities: unknown): unknown[] {
  if (typeof abilities === 'string' || abilities instanceof String) return [abilities];
  const iterable = abilities as Iterable<unknown> | null | undefined;
  if (typeof iterable?.[Symbol.iterator] === 'function') return [...iterable];
  throw new AuthConfigError('Abilities must be a string or an iterable of strings, such as an array or a Set.');
}

const asText = (name: unknown): unknown => (name instanceof String ? name.toString() : name);
