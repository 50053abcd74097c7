import { Injectable, Logger } from '@nestjs/common';
import ipaddr from 'ipaddr.js';

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
