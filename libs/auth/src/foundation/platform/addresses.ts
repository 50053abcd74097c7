import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * An address without its zone (RFC 6874), which names an interface of this host; an IPv4-mapped one (RFC 4291 §2.5.5.2) as IPv4.
 * Null for a text that is no address.
 */
export function addressOf(ip: unknown): Address | null {
  if (typeof ip !== 'string' || !isIP(ip)) return null;
  const [text = ''] = ip.split('%', 1);
  if (isIP(text) === 4) return ipaddr.IPv4.parse(text);
  // The URL parser normalizes it first: ipaddr.js would read `::192.0.2.1` as a mapped address.
  const address = ipaddr.IPv6.parse(new URL(`http://[${text}]`).hostname.slice(1, -1));
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** The network of an address: its first `prefix` bits, in the usual form, such as `192.0.2.0/24`. */
export function networkAt(address: Address, prefix: number): string {
  const bytes = address
    .toByteArray()
    .map((byte, i) => byte & (0xff00 >> Math.min(8, Math.max(0, prefix - 8 * i))) & 0xff);
  const first = bytes.length === 4 ? bytes.join('.') : new ipaddr.IPv6(bytes).toRFC5952String();
  return `${first}/${prefix}`;
}

/** The address of a client for people. Null for a text that is no address, which a client can put into a forwarding header. */
export function shownAddress(ip: unknown): string | null {
  const address = addressOf(ip);
  return address?.kind() === 'ipv6' ? String(ip).split('%', 1)[0]! : (address?.toString() ?? null);
}
