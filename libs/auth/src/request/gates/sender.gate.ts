import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { AuthException } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';
import { TokenBindings } from '../../identity/tokens/caller';
import { isOwnPage } from './origin.policy';
import type { Gate } from './route-plan';

/** A page of another origin tries to use or to set the refresh cookie: 403, without any effect. */
export class CrossOriginRequest extends AuthException {
  constructor() {
    super('foreign_page', { status: 403, text: { key: 'auth.foreign_page' } });
  }
}

interface OriginRequest {
  headers?: Readonly<Record<string, unknown>>;
  /** As the adapter reads it: the forwarded host of a trusted proxy, otherwise the `Host` header. */
  host?: unknown;
}

/**
 * Where the refresh cookie is set or read, refuses requests of other sites' pages to the routes that deliver tokens
 * (cross-site request forgery). The cookie alone authorizes a refresh, and a forged login would sign a visitor in as another user.
 */
@Injectable()
export class OriginGate implements Gate {
  /** The first stage: requests that a foreign page makes its visitors send must not count against their rate limits. */
  static readonly stage = 'origin';
  static readonly public = true;
  static refusals({ cookieMode, refreshTokenFrom }: GuardConfig): AuthException[] {
    return cookieMode || refreshTokenFrom === 'both' ? [new CrossOriginRequest()] : [];
  }

  constructor(private readonly realm: Realm) {}

  check(_context: ExecutionContext, { headers = {}, host }: OriginRequest): void {
    const { cookieMode, refreshTokenFrom, cookie } = this.realm.options;
    if (!cookieMode && refreshTokenFrom !== 'both') return;
    const page = {
      fetchSite: text(headers['sec-fetch-site']),
      origin: text(headers.origin),
      host: text(host) ?? text(headers.host),
    };
    if (!isOwnPage(page, cookie.origins)) throw new CrossOriginRequest();
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/**
 * Checks the proof of a key that a request sends to a route that starts a session, before the handler uses anything up. `NewSessions`
 * binds the session to it.
 */
@Injectable()
export class SenderGate implements Gate {
  static readonly stage = 'sender';
  static readonly public = true;

  constructor(private readonly bindings: TokenBindings) {}

  async check(_context: ExecutionContext, request: object): Promise<void> {
    if (this.bindings.isUsed) await this.bindings.keyOf(request);
  }
}
