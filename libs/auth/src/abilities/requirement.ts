import { AuthConfigError } from '../kernel/auth.exception';
import type { Grant } from '../tokens/grant';
import { flawOf } from './ability.policy';

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
