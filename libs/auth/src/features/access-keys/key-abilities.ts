import { identity } from '../../kit';

/**
 * The abilities of a request with a key: those that both its list and its owner have now. Pure. The sets of two names are nested
 * or disjoint, so the intersection of two lists consists of the narrower names.
 *
 * @param owner null where the application uses no abilities, and for a service: the list of the key counts alone
 */
export function effectiveAbilities(list: readonly string[], owner: readonly string[] | null): string[] {
  if (owner === null) return [...new Set(list)];
  const [key, now] = [new identity.Grant(list), new identity.Grant(owner)];
  return [...new Set([...list.filter((name) => now.covers(name)), ...owner.filter((name) => key.covers(name))])];
}

/** Whether a caller with these abilities may create a key with this list: it has each of its names. Pure. */
export const mayGrant = (list: readonly string[], creator: readonly string[]): boolean =>
  list.every((name) => new identity.Grant(creator).covers(name));
