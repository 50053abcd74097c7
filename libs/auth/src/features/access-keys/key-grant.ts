import { http, identity } from '../../kit';
import { isIP } from 'node:net';

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

/**
 * A network in its usual form, such as `192.0.2.0/24`; an address is a network with one address. Null for another text, also for
 * an address with a zone. Pure.
 */
export function networkOf(text: unknown): string | null {
  const [ip = '', bits, ...more] = typeof text === 'string' ? text.trim().split('/') : [];
  const address = ip.includes('%') ? null : http.addressOf(ip);
  if (!address || more.length || (bits !== undefined && !/^(0|[1-9]\d{0,2})$/.test(bits))) return null;
  const longest = address.kind() === 'ipv4' ? 32 : 128;
  // The bits of a mapped address count those of IPv6.
  const mapped = isIP(ip) === 6 ? 128 - longest : 0;
  const length = bits === undefined ? longest : Number(bits) - mapped;
  return length >= 0 && length <= longest ? http.networkAt(address, length) : null;
}

/** Whether a client is in one of the networks, in the form of {@link networkOf}. A client without an address is in none. Pure. */
export function isInNetworks(ip: unknown, networks: readonly string[]): boolean {
  const address = http.addressOf(ip);
  return networks.some((network) => address && http.networkAt(address, Number(network.split('/')[1])) === network);
}

/** The network of a client that counts as one place: the /24 of an IPv4 address, the /48 of an IPv6 address. Pure. */
export function placeOf(ip: unknown): string | null {
  const address = http.addressOf(ip);
  return address && http.networkAt(address, address.kind() === 'ipv4' ? 24 : 48);
}
