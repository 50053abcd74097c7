import { Injectable } from '@nestjs/common';
import { type UserResource, UserResources } from './request/abilities/user-resource';
import type { SessionTokens } from './request/http/route.interceptor';
import { AuthConfigError, Unauthenticated } from './foundation/platform/errors';
import { type RealmScope, Realms } from './foundation/realm/realm';
import { type SessionStart, Sessions } from './features/sessions/sessions';
import { TwoFactor } from './features/two-factor/two-factor';
import { type TokenSource, callerIn } from './identity/tokens/caller';

/** How server code starts a session; see {@link SessionStart}. */
export type StartOptions = Omit<SessionStart, 'userId' | 'abilities'> & {
  /** Abilities are the third argument. */
  abilities?: never;
};

/**
 * The one injectable a host needs: starts and ends sessions from server code, and says what tokens may do.
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
   * @throws AuthConfigError for abilities that are none, or that are among the options; Unauthenticated for a user
   * who is not there
   */
  async startSession(
    userId: string | number,
    options: StartOptions = {},
    abilities?: Iterable<string>,
  ): Promise<SessionTokens> {
    // Overlooked there, they would leave the session with everything its user may do.
    if (options.abilities !== undefined) throw new AuthConfigError('Pass abilities as the third argument.');
    const tokens = await this.sessions.start({ ...options, userId: String(userId), abilities });
    if (!tokens) throw new Unauthenticated(false);
    return tokens;
  }

  /** Ends one session at once: its refresh tokens and every access token. @throws StoreUnavailable */
  async revoke(familyId: string): Promise<void> {
    await this.sessions.end(familyId, 'revoked');
  }

  /**
   * Ends every session of the user on this guard, in pages, the newest first.
   *
   * @throws StoreUnavailable; the sessions that ended until then stay ended, so call it again
   */
  async revokeAll(userId: string | number): Promise<void> {
    await this.sessions.endAll(String(userId), 'revoked');
  }

  /** Ends every session of the user on this guard but one. @throws StoreUnavailable as {@link revokeAll} does */
  revokeOthers(userId: string | number, familyId: string): Promise<void> {
    return this.sessions.endOthers(String(userId), familyId);
  }

  /**
   * The second factors of this guard's users, for server code: an extra guard has no routes to enrol at, and an
   * operator may have to remove one. @throws AuthConfigError where `features.twoFactor` is off for the guard
   */
  get twoFactor(): TwoFactor {
    const { realm } = this.scope;
    if (realm.options.features.twoFactor) return this.scope.get(TwoFactor);
    throw new AuthConfigError(`features.twoFactor is off for the guard "${realm.guard}".`);
  }

  /**
   * Whether the request's verified token of this guard covers an ability, as `@Abilities` would say. False
   * without such a token: this guard never answers for the token of another one.
   */
  tokenCan(from: TokenSource, ability: string): boolean {
    return callerIn(from, this.scope.realm.guard)?.grant.covers(ability) ?? false;
  }

  /**
   * A user of this guard as the API shows it: `id`, `email_verified`, the host's own fields and, to the user's
   * own token, what that token may do.
   *
   * @param from the request that asks, or its caller
   * @param fields what the host adds; it cannot replace ours
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
