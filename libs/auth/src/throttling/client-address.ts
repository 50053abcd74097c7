import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

const IPV4_IN_IPV6 = ['::ffff:0:0/96', '64:ff9b::/96'].map((range) => ipaddr.IPv6.parseCIDR(range));

/**
 * An address as one client: IPv4 as it is, IPv6 as its network, because a visitor usually owns a whole /64.
 *
 * Mapped (RFC 4291 §2.5.5.2) and NAT64 (RFC 6052 §2.1) addresses are the IPv4 address they stand for: masked,
 * they would put all of IPv4 into one network. What is no address stays as it is; nothing is `unknown`.
 *
 * @param prefix bits of an IPv6 address that make one client
 */
export function clientAddress(ip: unknown, prefix: number): string {
  if (typeof ip !== 'string' || !ip) return 'unknown';
  // A zone (RFC 6874) names an interface of this host and no client.
  if (isIP(ip) !== 6 || ip.includes('%')) return ip;
  // Through the URL parser, which knows one spelling: ipaddr.js takes `::192.0.2.1` for a mapped address.
  const address = ipaddr.IPv6.parse(new URL(`http://[${ip}]`).hostname.slice(1, -1));
  const bytes = address.toByteArray();
  if (IPV4_IN_IPV6.some((range) => address.match(range))) return bytes.slice(12).join('.');
  return `${new ipaddr.IPv6(masked(bytes, prefix)).toRFC5952String()}/${prefix}`;
}

/** Keeps the first `prefix` bits and clears the rest. */
const masked = (bytes: number[], prefix: number): number[] =>
  bytes.map((byte, i) => byte & (0xff00 >> Math.min(8, Math.max(0, prefix - 8 * i))) & 0xff);
