import { Injectable } from '@nestjs/common';
import type { SessionTokens } from './http/session-tokens';
import { Realms } from './realm/realm';
import { type SessionStart, Sessions } from './sessions/sessions';

/** How server code starts a session; see {@link SessionStart}. */
export type StartOptions = Omit<SessionStart, 'userId' | 'abilities'>;

/**
 * The one injectable a host needs: starts and ends sessions from server code.
 *
 * @example constructor(private readonly auth: Auth) {}
 * // after a login of the host's own
 * const tokens = await this.auth.startSession(user.id, { amr: ['sms'] });
 * @publicApi
 */
@Injectable()
export class Auth {
  private name?: string;

  constructor(private readonly realms: Realms) {}

  /** The same for another guard. @throws AuthConfigError for a guard that was never declared */
  guard(name: string): Auth {
    const bound = new Auth(this.realms);
    bound.name = this.realms.get(name).realm.guard;
    return bound;
  }

  /**
   * Starts a session and returns its tokens, shown this once.
   *
   * @param abilities pins the session to this list, an empty one to nothing; left out, the host's
   * abilities callback decides at each mint
   * @throws AuthConfigError for abilities that are none
   */
  startSession(
    userId: string | number,
    options: StartOptions = {},
    abilities?: Iterable<string>,
  ): Promise<SessionTokens> {
    return this.sessions.start({ ...options, userId: String(userId), abilities });
  }

  /** Ends one session at once: its refresh tokens and every access token. @throws StoreUnavailable */
  revoke(familyId: string): Promise<void> {
    return this.sessions.revoke(familyId);
  }

  /** Ends every session of the user on this guard. @throws StoreUnavailable */
  revokeAll(userId: string | number): Promise<void> {
    return this.sessions.revokeAll(String(userId));
  }

  /** Ends every session of the user on this guard but one. @throws StoreUnavailable */
  revokeOthers(userId: string | number, familyId: string): Promise<void> {
    return this.sessions.revokeOthers(String(userId), familyId);
  }

  private get sessions(): Sessions {
    const scope = this.name === undefined ? this.realms.default : this.realms.get(this.name);
    return scope.get(Sessions);
  }
}
