import { AuthConfigError } from '../../foundation/platform/errors';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Controller, Delete, Get, HttpCode, Injectable, Param, Post } from '@nestjs/common';
import { RequireIfPinned } from './pinned-ability.gate';
import { Authenticated, CurrentCaller, Public } from '../../request/gates/authenticated';
import type { SessionTokens } from '../../request/http/route.interceptor';
import { NoStore, DeliversTokens } from '../../request/http/route.interceptor';
import { PresentedRefreshToken, EndsSession } from '../../request/http/refresh-cookie';
import { Throttled } from '../../request/throttling/limiters';
import { Unlimited } from '../../foundation/realm/feature';
import type { Caller } from '../../identity/tokens/caller';
import { RefreshRotation } from './refresh-rotation';
import { type ListedSession, SessionList } from './session-list';
import { Sessions } from './sessions';

@Controller('refresh')
export class RefreshController {
  constructor(private readonly rotation: RefreshRotation) {}

  /** Refreshes a session. Requires no abilities: every session can refresh itself. */
  @Post()
  @Public()
  @Throttled('svc-refresh')
  @DeliversTokens()
  refresh(@PresentedRefreshToken() refreshToken: string): Promise<SessionTokens> {
    return this.rotation.rotate(refreshToken);
  }
}

@Controller('logout')
export class LogoutController {
  constructor(private readonly sessions: Sessions) {}

  /** Ends the calling session. A co-issuer's token without a session is denied itself. Requires no abilities. */
  @Post()
  @Authenticated()
  @Unlimited('it ends the calling session, so each session can call it once')
  @EndsSession()
  logout(@CurrentCaller() caller: Caller): Promise<void> {
    return this.sessions.logOut(caller);
  }
}

@Controller('sessions')
export class RevokeAllController {
  constructor(private readonly sessions: Sessions) {}

  /**
   * Ends every session of the caller on this guard, including the calling session. A co-issuer's token without a session is
   * denied itself, too.
   */
  @Delete()
  @Authenticated()
  @RequireIfPinned('svc.sessions')
  @Unlimited('it ends the calling session, so each session can call it once')
  @EndsSession()
  revokeAll(@CurrentCaller() caller: Caller): Promise<void> {
    return this.sessions.revokeAll(caller);
  }
}

@Controller('sessions/others')
export class RevokeOthersController {
  constructor(private readonly sessions: Sessions) {}

  /**
   * Ends every other session of the caller. The calling session and its cookie remain. For a co-issuer's token without a
   * session, all sessions end.
   */
  @Delete()
  @HttpCode(204)
  @Authenticated()
  @RequireIfPinned('svc.sessions')
  @Unlimited('it ends sessions, each of which was started by a limited request')
  async revokeOthers(@CurrentCaller() { userId, familyId }: Caller): Promise<void> {
    await this.sessions.endOthers(userId, familyId);
  }
}

@Controller('sessions')
export class SessionsController {
  constructor(private readonly list: SessionList) {}

  /** Lists the live sessions of the caller on this guard. */
  @Get()
  @NoStore()
  @Authenticated()
  @RequireIfPinned('svc.sessions')
  @Unlimited('it reads the sessions of the caller, 100 at most')
  async own(@CurrentCaller() { userId, familyId }: Caller): Promise<{ data: ListedSession[] }> {
    return { data: await this.list.list(userId, familyId) };
  }

  /** Ends one session of the caller. */
  @Delete(':svcSession')
  @Authenticated()
  @RequireIfPinned('svc.sessions')
  @Unlimited('it ends a session, which was started by a limited request')
  @EndsSession()
  end(@CurrentCaller() { userId }: Caller, @Param('svcSession') id: string): Promise<void> {
    return this.list.end(userId, id);
  }
}

/**
 * Refresh, logout, list and end of sessions, for code of the host.
 *
 * @publicApi
 */
@Injectable()
export class SessionFlow extends Flow {
  /**
   * As `POST /refresh`: returns new tokens of the same session.
   *
   * @throws InvalidRefreshToken, TooManyRequests, StoreUnavailable
   */
  async refresh(refreshToken: string, source: CallSource): Promise<SessionTokens> {
    // Tolerates a value that is not a string, as the route does.
    const presented = typeof refreshToken === 'string' ? refreshToken.trim() : '';
    const rotate = (): Promise<SessionTokens> => this.get(RefreshRotation).rotate(presented);
    return this.call(RefreshController, 'refresh', source, rotate, { refresh_token: refreshToken });
  }

  /** As `POST /logout`: ends the session of the caller. @throws Unauthenticated, NoSession, StoreUnavailable */
  async logout(source: CallSource): Promise<void> {
    return this.callAs(LogoutController, 'logout', source, (caller) => this.get(Sessions).logOut(caller));
  }

  /** As `GET /sessions`: lists the live sessions of the caller. @throws Unauthenticated, InsufficientScope */
  async list(source: CallSource): Promise<ListedSession[]> {
    return this.callAs(SessionsController, 'own', source, ({ userId, familyId }) =>
      this.get(SessionList).list(userId, familyId),
    );
  }

  /**
   * As `DELETE /sessions/:id`: ends one session of the caller.
   *
   * @throws Unauthenticated, InsufficientScope, SessionNotFound, StoreUnavailable
   */
  async end(sessionId: string, source: CallSource): Promise<void> {
    return this.callAs(SessionsController, 'end', source, ({ userId }) => this.get(SessionList).end(userId, sessionId));
  }

  /**
   * As `DELETE /sessions`: ends every session of the caller, and denies a token without a session itself. After an error some of them may have ended: repeat the call.
   *
   * @throws Unauthenticated, InsufficientScope, StoreUnavailable
   */
  async endAll(source: CallSource): Promise<void> {
    if (!this.scope.realm.options.features.logoutAll) throw new AuthConfigError('features.logoutAll is off.');
    return this.callAs(RevokeAllController, 'revokeAll', source, (caller) => this.get(Sessions).revokeAll(caller));
  }

  /** As `DELETE /sessions/others`: ends every other session of the caller. Throws as {@link endAll} does. */
  async endOthers(source: CallSource): Promise<void> {
    return this.callAs(RevokeOthersController, 'revokeOthers', source, async ({ userId, familyId }) => {
      await this.get(Sessions).endOthers(userId, familyId);
    });
  }
}
