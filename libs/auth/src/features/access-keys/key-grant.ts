import { identity } from '../../kit';
import ipaddr from 'ipaddr.js';
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

/** An address without the zone; an IPv4 address in IPv6 (RFC 4291 §2.5.5.2) as IPv4. Null for a text that is no address. */
function addressOf(ip: unknown): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const [text = ''] = typeof ip === 'string' ? ip.split('%', 1) : [];
  return isIP(text) ? ipaddr.process(text) : null;
}

/**
 * A network in its usual form, such as `192.0.2.0/24`; an address is a network with one address. Null for another text, also for
 * an address with a zone. Pure.
 */
export function networkOf(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  const [ip = '', bits, ...more] = text.trim().split('/');
  if (!isIP(ip) || ip.includes('%') || more.length) return null;
  const [written, address] = [ipaddr.parse(ip), ipaddr.process(ip)];
  if (bits !== undefined && !/^(0|[1-9]\d{0,2})$/.test(bits)) return null;
  const [longest, mapped] = [address.kind() === 'ipv4' ? 32 : 128, written.kind() === address.kind() ? 0 : 96];
  const length = bits === undefined ? longest : Number(bits) - mapped;
  return length >= 0 && length <= longest ? masked(address, length) : null;
}

const masked = (address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): string =>
  address.kind() === 'ipv4'
    ? `${ipaddr.IPv4.networkAddressFromCIDR(`${address}/${bits}`)}/${bits}`
    : `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/${bits}`)}/${bits}`;

/** Whether a client is in one of the networks. A client without an address is in none. Pure. */
export function isInNetworks(ip: unknown, networks: readonly string[]): boolean {
  const address = addressOf(ip);
  return (
    address !== null &&
    networks.some((network) => {
      const [base, bits] = ipaddr.parseCIDR(network);
      return base.kind() === address.kind() && address.match(base as ipaddr.IPv4 & ipaddr.IPv6, bits);
    })
  );
}

/** The network of a client that counts as one place: the /24 of an IPv4 address, the /48 of an IPv6 address. Pure. */
export function placeOf(ip: unknown): string | null {
  const address = addressOf(ip);
  return address && masked(address, address.kind() === 'ipv4' ? 24 : 48);
}
