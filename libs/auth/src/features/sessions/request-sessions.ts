import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { canonicalId } from '../../foundation/platform/database';
import { type AuthException, Unauthenticated } from '../../foundation/platform/errors';
import { AccessTokens } from '../../identity/tokens/access-tokens';
import { Authenticator } from '../../identity/tokens/authenticator';
import { parseRefreshToken } from '../../identity/tokens/refresh-tokens';
import { type Credentialed, type HeldSession, TokenBindings, callerOf } from '../../identity/tokens/caller';
import { Realm } from '../../foundation/realm/realm';
import type { AuthenticatedRequest } from '../../request/gates/authenticated';
import { OriginGate } from '../../request/gates/sender.gate';
import type { Gate } from '../../request/gates/route-plan';
import { RefreshCookie, RefreshTokenPipe } from '../../request/http/cookies';
import { PinnedSessions } from './pinned-ability.gate';
import { RefreshRotation } from './refresh-rotation';

/** Finds the session that a request to a public route carries, without a demand for one. */
@Injectable()
export class RequestSessions {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly pinnedSessions: PinnedSessions,
    private readonly rotation: RefreshRotation,
    private readonly cookie: RefreshCookie,
    private readonly bindings: TokenBindings,
    private readonly realm: Realm,
  ) {}

  /**
   * The id of the user whose live session the request carries, in its access token or in the refresh cookie. Null for none, and
   * for a session with a pinned list of abilities, which does not act as the user. Uses no refresh token up.
   *
   * @throws StoreUnavailable
   */
  async ownerOf(request: Credentialed): Promise<string | null> {
    return (await this.ownerOfToken(request)) ?? (await this.ownerOfCookie(request));
  }

  /** The live session of the refresh cookie; null for none. Its sender may not be the holder. Uses no refresh token up. */
  ofCookie(request: Credentialed): Promise<HeldSession | null> {
    return this.rotation.liveSessionOf(this.cookie.read(request.headers?.cookie));
  }

  /** The id that the refresh cookie names, of a session that may have ended or never have started. Null for none. */
  familyOfCookie(request: Credentialed): string | null {
    return parseRefreshToken(this.cookie.read(request.headers?.cookie))?.familyId ?? null;
  }

  private async ownerOfToken(request: Credentialed): Promise<string | null> {
    if (!callerOf(request, this.realm.guard) && !this.bindings.credentialOf(request).token) return null;
    try {
      const caller = await this.authenticator.authenticate(request);
      return (await this.pinnedSessions.includes(caller)) ? null : caller.userId;
    } catch (error) {
      if (error instanceof Unauthenticated) return null;
      throw error;
    }
  }

  private async ownerOfCookie(request: Credentialed): Promise<string | null> {
    const { cookieMode, refreshTokenFrom } = this.realm.options;
    const isRead = cookieMode || refreshTokenFrom === 'both';
    return isRead ? this.rotation.ownerOf(this.cookie.read(request.headers?.cookie), request) : null;
  }
}

/**
 * Authenticates a sign-out. A client that was away has an expired access token and a refresh token, and a refresh only to sign out
 * would start a new life of the token. So an access token that is only expired is accepted with a refresh token of the same session.
 * A page of another origin cannot use the refresh cookie for it.
 */
@Injectable()
export class SignOutGate implements Gate {
  static readonly stage = 'authentication';
  static readonly public = true;
  static refusals(options: GuardConfig): AuthException[] {
    return [new Unauthenticated(true), ...OriginGate.refusals(options)];
  }

  constructor(
    private readonly authenticator: Authenticator,
    private readonly accessTokens: AccessTokens,
    private readonly refreshToken: RefreshTokenPipe,
    private readonly rotation: RefreshRotation,
    private readonly originGate: OriginGate,
    private readonly bindings: TokenBindings,
  ) {}

  async check(context: ExecutionContext, request: AuthenticatedRequest): Promise<void> {
    const { user } = await this.authenticator.authenticate(request).catch(async (refusal: unknown) => {
      const { token } = this.bindings.credentialOf(request);
      const claims = refusal instanceof Unauthenticated ? this.accessTokens.readExpired(token) : null;
      const presented = claims && this.refreshToken.transform(request);
      if (!presented) throw refusal;
      this.originGate.check(context, request);
      if (!(await this.rotation.isOfSession(presented, canonicalId(claims.fid ?? ''), request))) throw refusal;
      return this.authenticator.admit(request, claims);
    });
    request.user = user;
  }
}
