import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

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
