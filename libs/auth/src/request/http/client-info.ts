import { Injectable, Logger } from '@nestjs/common';
import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';
import { addressOf, networkAt, shownAddress } from '../gates/request-log';
import { sha256 } from '../../foundation/platform/crypto';
import { Realm } from '../../foundation/realm/realm';
import { comparedAs } from '../../identity/users/identifiers';
import { FIELD_MAX, ownField } from './request-body';

const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * Returns the key of the client with this address: an IPv4 address unchanged, an IPv6 address as its network, because a
 * visitor usually has a whole /64.
 *
 * IPv4-mapped (RFC 4291 §2.5.5.2) and NAT64 (RFC 6052 §2.1) addresses become the IPv4 address that they contain: masked,
 * all IPv4 clients would share one network. A zone (RFC 6874), which names an interface of this host, is ignored. All
 * other texts share one key with missing addresses, `unknown`: each text of a forged header would be a new client.
 *
 * @param prefix number of bits of an IPv6 address that identify a client
 */
export function clientAddress(ip: unknown, prefix: number): string {
  const address = addressOf(ip);
  if (!address) return 'unknown';
  if (address instanceof ipaddr.IPv4) return address.toString();
  return address.match(NAT64) ? address.toByteArray().slice(12).join('.') : networkAt(address, prefix);
}

/** Identifies the client of a request for the rate limits. */
@Injectable()
export class Clients {
  private readonly logger = new Logger(Clients.name);

  constructor(private readonly realm: Realm) {}

  /** Returns the key of `hooks.rateLimitKey`, or the client address. Never empty: all clients would share one counter. */
  addressOf(request: { ip?: unknown }): string {
    return this.named(request) || clientAddress(request.ip, this.realm.options.rateLimits.ipv6Prefix);
  }

  private named(request: object): string {
    try {
      const key: unknown = this.realm.options.hooks.rateLimitKey?.(request);
      return typeof key === 'string' ? key.trim() : '';
    } catch (error) {
      // The hook runs before validation, on unchecked input. Its error must not become the response.
      this.logger.error('hooks.rateLimitKey failed; the client address is used instead', (error as Error)?.stack);
      return '';
    }
  }
}

/** The keys under which the hash queue counts the share of a request. */
@Injectable()
export class FairShareKeys {
  constructor(
    private readonly realm: Realm,
    private readonly clients: Clients,
  ) {}

  /**
   * Returns the key of the client and the key of the account, whether or not the account exists. Both are hashed: no
   * address or identifier is stored.
   */
  of(request: { ip?: unknown; body?: unknown }): readonly string[] {
    const { source, options } = this.realm;
    const identifier = ownField(request.body, options.username);
    const account = typeof identifier === 'string' ? comparedAs(options.username, identifier.slice(0, FIELD_MAX)) : '';
    return [`client|${this.clients.addressOf(request)}`, `account|${source.key}|${account}`].map(sha256);
  }
}

interface Observed {
  ip?: unknown;
  headers?: Readonly<Record<string, unknown>>;
}

/** Number of requests that are observed before the warning. */
const SAMPLE = 20;

/**
 * Warns once when the first rate-limited requests after boot all come from one private address, or have no address. They
 * probably come through a proxy, and then all users share the rate limits of its address.
 */
@Injectable()
export class ProxyWarning {
  private readonly logger = new Logger('Auth');
  private hasSeenText = false;
  private left = SAMPLE;
  private first?: unknown;

  observe({ ip, headers }: Observed): void {
    this.observeText(ip);
    if (this.left === 0) return;
    if (this.left === SAMPLE) this.first = ip;
    if (ip !== this.first || !looksLikeProxy(ip, headers)) this.left = 0;
    else if (--this.left === 0) {
      this.logger.warn(
        `The first ${SAMPLE} rate-limited requests all came from ${ip ? `the private address ${shownAddress(ip)}` : 'no address'}. If that is a proxy, all users share ` +
          'its rate limits: set "trust proxy" (Fastify: trustProxy) to the addresses of your proxies, or set hooks.rateLimitKey.',
      );
    }
  }

  /** The text is not logged: a client can choose it. */
  private observeText(ip: unknown): void {
    if (this.hasSeenText || typeof ip !== 'string' || !ip || isIP(ip)) return;
    this.hasSeenText = true;
    this.logger.warn(
      'A proxy forwards a client address that is no IP address, such as one with a port. All such clients share their rate ' +
        'limits: correct the header of the proxy, or set hooks.rateLimitKey.',
    );
  }
}

const PRIVATE = ['private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'];

function looksLikeProxy(ip: unknown, headers: Observed['headers'] = {}): boolean {
  // Requests over a Unix socket have no address.
  if (typeof ip !== 'string' || !ip) return true;
  if (!ipaddr.isValid(ip)) return false;
  const range = ipaddr.process(ip).range();
  // In development, all requests come from this machine. A forwarding header shows a proxy on this machine.
  const forwarded = 'x-forwarded-for' in headers || 'forwarded' in headers;
  return PRIVATE.includes(range) || (range === 'loopback' && forwarded);
}

/** The client that started a session, for the list of sessions. */
export interface ClientInfo {
  ip: string | null;
  userAgent: string | null;
}

/** Prepares a text for a column: cut after `length` characters, without NUL, which PostgreSQL refuses; null without text. */
export const clip = (value: unknown, length: number): string | null =>
  (typeof value === 'string' && charactersOf(value, length).join('').replaceAll('\0', '')) || null;

const charactersOf = (text: string, max: number): string[] => [...text].slice(0, max);

export const clientInfo = (request: { ip?: unknown; headers?: { 'user-agent'?: unknown } }): ClientInfo => ({
  ip: shownAddress(request.ip),
  userAgent: clip(request.headers?.['user-agent'], 512),
});
