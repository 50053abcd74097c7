import { Injectable, Logger } from '@nestjs/common';
import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';
import { sha256 } from '../../foundation/platform/crypto';
import { Realm } from '../../foundation/realm/realm';
import { normalizedIdentifier } from '../../identity/users/identifiers';
import { FIELD_MAX, ownField } from '../http/request-body';
import { FairShareKeys } from '../http/route.interceptor';

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

/** Who a request comes from, as the rate limits count it. */
@Injectable()
export class Clients {
  private readonly logger = new Logger(Clients.name);

  constructor(private readonly realm: Realm) {}

  /** What the host's callback names the client, or its address. Never empty: one counter would stand for everybody. */
  addressOf(request: { ip?: unknown }): string {
    return this.named(request) || clientAddress(request.ip, this.realm.options.rateLimits.ipv6Prefix);
  }

  private named(request: object): string {
    try {
      const key: unknown = this.realm.options.hooks.rateLimitKey?.(request);
      return typeof key === 'string' ? key.trim() : '';
    } catch (error) {
      // It runs before validation, on whatever a client sends: its failure must not be an answer.
      this.logger.error('hooks.rateLimitKey failed; the address counts instead', (error as Error)?.stack);
      return '';
    }
  }
}

/** Names applicants as the rate limits do, whether or not there is such an account. */
@Injectable()
export class RequestFairShareKeys extends FairShareKeys {
  constructor(
    private readonly realm: Realm,
    private readonly clients: Clients,
  ) {
    super();
  }

  keysOf(request: { ip?: unknown; body?: unknown }): readonly string[] {
    const { guard, options } = this.realm;
    const identifier = ownField(request.body, options.username);
    const account = typeof identifier === 'string' ? normalizedIdentifier(identifier.slice(0, FIELD_MAX)) : '';
    return [`client|${this.clients.addressOf(request)}`, `account|${guard}|${account}`].map(sha256);
  }
}

interface Observed {
  ip?: unknown;
  headers?: Readonly<Record<string, unknown>>;
}

/** Requests looked at before judging. */
const SAMPLE = 20;

/**
 * Warns once when the first limited requests after boot all come from one private address, or from none: that
 * is a proxy, and every user would share its rate limits.
 */
@Injectable()
export class ProxyWarning {
  private readonly logger = new Logger('Auth');
  private left = SAMPLE;
  private first?: unknown;

  observe({ ip, headers }: Observed): void {
    if (this.left === 0) return;
    if (this.left === SAMPLE) this.first = ip;
    if (ip !== this.first || !looksLikeProxy(ip, headers)) this.left = 0;
    else if (--this.left === 0) {
      this.logger.warn(
        `The first ${SAMPLE} limited requests all came from ${ip ? `${ip}, a private address` : 'no address'}. If that is a proxy, all users share ` +
          'its rate limits: set "trust proxy" (Fastify: trustProxy) to the proxies that exist, or hooks.rateLimitKey.',
      );
    }
  }
}

const PRIVATE = ['private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'];

function looksLikeProxy(ip: unknown, headers: Observed['headers'] = {}): boolean {
  // Behind a Unix socket there is no address at all.
  if (typeof ip !== 'string' || !ip) return true;
  if (!ipaddr.isValid(ip)) return false;
  const range = ipaddr.process(ip).range();
  // In development everything comes from this machine; with a forwarding header it came through a proxy on it.
  const forwarded = 'x-forwarded-for' in headers || 'forwarded' in headers;
  return PRIVATE.includes(range) || (range === 'loopback' && forwarded);
}
/** Where a session was started from, as its owner will recognise it in a list. */
export interface ClientInfo {
  ip: string | null;
  userAgent: string | null;
}

/** A text as a column takes it: cut off at `length` characters, never within one, without NUL; null for no text. */
export const clip = (value: unknown, length: number): string | null =>
  (typeof value === 'string' && charactersOf(value, length).join('').replaceAll('\0', '')) || null;

const charactersOf = (text: string, most: number): string[] => [...text].slice(0, most);

export const clientInfo = (request: { ip?: unknown; headers?: { 'user-agent'?: unknown } }): ClientInfo => ({
  ip: clip(request.ip, 64),
  userAgent: clip(request.headers?.['user-agent'], 512),
});
