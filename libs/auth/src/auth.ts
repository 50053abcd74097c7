import { Injectable } from '@nestjs/common';
import { type UserResource, UserResources } from './request/abilities/user-resource';
import type { SessionTokens } from './request/http/route.interceptor';
import { AuthConfigError, Unauthenticated } from './foundation/platform/errors';
import { type RealmScope, Realms } from './foundation/realm/realm';
import { type SessionStart, Sessions } from './features/sessions/sessions';
import { TwoFactor } from './features/two-factor/two-factor';
import { type TokenSource, callerIn } from './identity/tokens/caller';

/** Options of {@link Auth.startSession}; see {@link SessionStart}. */
export type StartOptions = Omit<SessionStart, 'userId' | 'abilities'> & {
  /** Not an option: abilities are the third argument of {@link Auth.startSession}. */
  abilities?: never;
};

/**
 * Starts and ends sessions from server code, and reports what the token of a request may do.
 *
 * @example constructor(private readonly auth: Auth) {}
 * // after the host's own login
 * const tokens = await this.auth.startSession(user.id, { amr: ['sms'] });
 * @publicApi
 */
@Injectable()
export class Auth {
  private name?: string;

  constructor(private readonly realms: Realms) {}

  /** Returns an `Auth` for another guard. @throws AuthConfigError for a guard that is not declared */
  guard(name: string): Auth {
    const bound = new Auth(this.realms);
    bound.name = this.realms.get(name).realm.guard;
    return bound;
  }

  /**
   * Starts a session and returns its tokens. They cannot be read again later.
   *
   * @param abilities the fixed list of abilities of the session; an empty list grants nothing. When omitted,
   * `hooks.abilities` decides each time an access token is issued
   * @throws AuthConfigError for an invalid list of abilities, or for abilities among the options; Unauthenticated for
   * a user that does not exist
   */
  async startSession(
    userId: string | number,
    options: StartOptions = {},
    abilities?: Iterable<string>,
  ): Promise<SessionTokens> {
    // Ignoring them there would start a session with all abilities of its user.
    if (options.abilities !== undefined) throw new AuthConfigError('Pass abilities as the third argument.');
    const tokens = await this.sessions.start({ ...options, userId: String(userId), abilities });
    if (!tokens) throw new Unauthenticated(false);
    return tokens;
  }

  /** Ends one session immediately: its refresh tokens and every access token. @throws StoreUnavailable */
  async revoke(familyId: string): Promise<void> {
    await this.sessions.end(familyId, 'revoked');
  }

  /**
   * Ends every session of the user on this guard, in pages, the newest first.
   *
   * @throws StoreUnavailable; the sessions that were ended before the error stay ended, so the call can be repeated
   */
  async revokeAll(userId: string | number): Promise<void> {
    await this.sessions.endAll(String(userId), 'revoked');
  }

  /** Ends every session of the user on this guard except one. @throws StoreUnavailable as {@link revokeAll} does */
  revokeOthers(userId: string | number, familyId: string): Promise<void> {
    return this.sessions.endOthers(String(userId), familyId);
  }

  /**
   * Manages the second factors of this guard's users from server code: an extra guard has no enrolment routes, and an
   * operator may have to remove a factor. @throws AuthConfigError when `features.twoFactor` is off for the guard
   */
  get twoFactor(): TwoFactor {
    const { realm } = this.scope;
    if (realm.options.features.twoFactor) return this.scope.get(TwoFactor);
    throw new AuthConfigError(`features.twoFactor is off for the guard "${realm.guard}".`);
  }

  /**
   * Returns whether the verified token of the request covers an ability, with the same result as `@Abilities`. Returns
   * false when the request has no verified token of this guard, even if it has one of another guard.
   */
  tokenCan(from: TokenSource, ability: string): boolean {
    return callerIn(from, this.scope.realm.guard)?.grant.covers(ability) ?? false;
  }

  /**
   * Returns a user of this guard as the API shows it: `id`, `email_verified`, the fields of the host and, if the token
   * of the request belongs to this user, the abilities of that token.
   *
   * @param from the current request, or its caller
   * @param fields fields that the host adds; they cannot replace the fields of the library
   */
  userResource(user: object, from?: TokenSource, fields: object = {}): UserResource {
    return this.scope.get(UserResources).describe(user, callerIn(from, this.scope.realm.guard), fields);
  }

  private get sessions(): Sessions {
    return this.scope.get(Sessions);
  }

  private get scope(): RealmScope {
    return this.name === undefined ? this.realms.default : this.realms.get(this.name);
  }
}
