import { AuthConfigError } from '../../foundation/platform/errors';
import type { Grant } from '../../identity/tokens/caller';
import { flawOf, flawOfScope } from './ability.policy';

/** Abilities a route asks for: every one, or some one. */
export interface Requirement {
  readonly abilities: readonly string[];
  readonly met: 'every' | 'some';
}

/**
 * Reads what a decorator was given. A comma separates names, so that `'a,b'` is two abilities and not one
 * that no grant could ever name. @throws AuthConfigError for a name that is none, or no names at all: a
 * requirement that nobody can meet is a mistake for everybody
 */
export function requirement(given: readonly unknown[], met: Requirement['met']): Requirement {
  const names = given.flatMap((one) => (typeof one === 'string' ? one.split(',').map((name) => name.trim()) : [one]));
  const abilities = names.filter((name) => name !== '');
  const flaw = abilities.length ? abilities.map(flawOf).find(Boolean) : 'An ability gate names no ability.';
  if (flaw) throw new AuthConfigError(flaw);
  return { abilities: [...new Set(abilities as string[])], met };
}

/** Whether a grant meets a requirement. An empty one is never met. */
export const isMet = ({ abilities, met }: Requirement, grant: Grant): boolean =>
  abilities.length > 0 && abilities[met]((ability) => grant.covers(ability));

/**
 * Makes a host's list of abilities the `scope` it is stored and signed as. Empty strings and duplicates
 * are dropped. A single string is one ability, not a list.
 *
 * @throws AuthConfigError for what is no list, or names and sizes out of bounds
 */
export function scopeOf(abilities: Iterable<unknown> | string): string {
  const names = [
    ...new Set(
      listOf(abilities)
        .map(asText)
        .filter((name) => name !== ''),
    ),
  ];
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
