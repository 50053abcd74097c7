import { type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthException } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';
import { isOwnPage } from './origin.policy';
import type { Gate } from './route-plan';

/** A page of another origin tries to use or to set the refresh cookie: 403, and nothing was done. */
export class CrossOriginRequest extends AuthException {
  constructor() {
    super('foreign_page', { status: 403, text: { key: 'auth.foreign_page' } });
  }
}

interface Sent {
  headers?: Readonly<Record<string, unknown>>;
  /** As the adapter reads it: what a trusted proxy forwards, else the `Host` header. */
  host?: unknown;
}

/**
 * In cookie mode, keeps other sites' pages from the routes that deliver tokens: from the refresh, which the cookie
 * alone authorizes, and from logins, which could sign a visitor in as somebody else.
 */
@Injectable()
export class OriginGate implements Gate {
  /** Before everything else, so that what a page makes its visitors send counts against none of their limits. */
  static readonly stage = 'origin';
  static readonly public = true;

  constructor(private readonly realm: Realm) {}

  check(_context: ExecutionContext, { headers = {}, host }: Sent): void {
    const { cookieMode, cookie } = this.realm.options;
    if (!cookieMode) return;
    const page = {
      fetchSite: text(headers['sec-fetch-site']),
      origin: text(headers.origin),
      host: text(host) ?? text(headers.host),
    };
    if (!isOwnPage(page, cookie.origins)) throw new CrossOriginRequest();
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
