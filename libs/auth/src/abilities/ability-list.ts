import { AuthConfigError } from '../kernel/auth.exception';
import { flawOf, flawOfScope } from './ability.policy';

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
