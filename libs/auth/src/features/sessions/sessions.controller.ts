import { Controller, Param, Req } from '@nestjs/common';
import { FLAG, TEXT, TIME, UUID, namedSchema, of, oneOf, orNull, record } from '../../foundation/platform/schema';
import type { Caller } from '../../identity/tokens/caller';
import { CurrentCaller } from '../../request/gates/authenticated';
import { requires } from '../../request/gates/route-guard';
import { PresentedRefreshToken } from '../../request/http/cookies';
import type { SessionTokens } from '../../request/http/route-answer';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Route, listed, tokenPair } from '../../request/routes/route';
import { RequireIfPinned } from './pinned-ability.gate';
import { RefreshRotation } from './refresh-rotation';
import { SignOutGate } from './request-sessions';
import { type ListedSession, SessionList } from './session-list';
import { Sessions } from './sessions';
import { InvalidRefreshToken, NoSession, SessionNotFound } from './sessions.errors';

const LISTED = namedSchema(
  'AuthSession',
  record<ListedSession>({
    id: UUID,
    created_at: TIME,
    last_used_at: TIME,
    expires_at: of(TIME, 'When it ends if it is not used again.'),
    ip: orNull(TEXT),
    user_agent: orNull(TEXT),
    label: orNull(TEXT),
    actor: of(oneOf('user', 'operator'), 'Who uses it: an operator can act as the user.'),
    current: of(FLAG, 'Whether it is the session of this request.'),
  }),
);

@Controller()
export class SessionsController {
  constructor(
    private readonly rotation: RefreshRotation,
    private readonly sessions: Sessions,
    private readonly list: SessionList,
  ) {}

  /** Refreshes a session. Requires no abilities: every session can refresh itself. */
  @Route('POST', 'refresh', 'refresh', {
    summary: 'Exchanges a refresh token for new tokens',
    note: 'The tokens are of the same session. A repetition in the grace period gets the same refresh token. Every refusal has the same text.',
    public: 'own-origin',
    limiter: 'svc-refresh',
    answer: tokenPair,
    refusals: [InvalidRefreshToken],
    presentedAs: 'refresh',
    quiet: true,
    besideScope: true,
  })
  refresh(@PresentedRefreshToken() refreshToken: string, @Req() request: object): Promise<SessionTokens> {
    return this.rotation.rotate(refreshToken, request);
  }

  /** Ends the calling session. A co-issuer's token without a session is denied itself. Requires no abilities. */
  @Route('POST', 'logout', 'logout', {
    summary: 'Ends the calling session',
    note: 'An expired access token is accepted with a refresh token of the same session, in the place where `POST /refresh` reads it.',
    public: true,
    gates: [requires(SignOutGate)],
    unlimited:
      'it ends the calling session, and a refusal costs one read, of a session that the signed access token names',
    endsSession: true,
    refusals: [NoSession],
    presentedAs: 'logout',
  })
  logout(@CurrentCaller() caller: Caller): Promise<void> {
    return this.sessions.logOut(caller);
  }

  /**
   * Ends every other session of the caller. The calling session and its cookie remain. For a co-issuer's token without a
   * session, all sessions end.
   */
  @Route('DELETE', 'sessions/others', 'sessions_end_others', {
    summary: 'Ends every other session of the caller',
    gates: [RequireIfPinned('svc.sessions')],
    unlimited: 'it ends sessions, each of which was started by a limited request',
  })
  async revokeOthers(@CurrentCaller() { userId, familyId }: Caller): Promise<void> {
    await this.sessions.endOthers(userId, [familyId]);
  }

  /** Lists the live sessions of the caller on this guard. */
  @Route('GET', 'sessions', 'sessions_list', {
    summary: 'Lists the live sessions of the caller',
    note: 'Lists 100 sessions at most.',
    gates: [RequireIfPinned('svc.sessions')],
    unlimited: 'it reads the sessions of the caller, 100 at most',
    answer: listed(LISTED),
    quiet: true,
  })
  own(@CurrentCaller() { userId, familyId }: Caller): Promise<ListedSession[]> {
    return this.list.list(userId, familyId);
  }

  /** Ends one session of the caller. */
  @Route('DELETE', 'sessions/:svcSession', 'session_end', {
    summary: 'Ends one session of the caller',
    note: 'A session of another user is 404.',
    parameters: { svcSession: of(UUID, 'The id of a session.') },
    gates: [RequireIfPinned('svc.sessions')],
    unlimited: 'it ends a session, which was started by a limited request',
    endsSession: true,
    refusals: [SessionNotFound],
  })
  end(@CurrentCaller() { userId }: Caller, @Param('svcSession') id: string): Promise<void> {
    return this.list.end(userId, id);
  }
}

@Controller('sessions')
export class RevokeAllController {
  constructor(private readonly sessions: Sessions) {}

  /**
   * Ends every session of the caller on this guard, including the calling session. A co-issuer's token without a session is
   * denied itself, too.
   */
  @Route('DELETE', '', 'sessions_end_all', {
    summary: 'Ends every session of the caller',
    note: 'A 503 can have ended some of the sessions: repeat the request.',
    gates: [RequireIfPinned('svc.sessions')],
    unlimited: 'it ends the calling session, so each session can call it once',
    endsSession: true,
  })
  revokeAll(@CurrentCaller() caller: Caller): Promise<void> {
    return this.sessions.revokeAll(caller);
  }
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** Refresh, logout, list and end of the sessions of a caller. */
    readonly sessions: SessionFlow;
  }
}

/**
 * Refresh, logout, list and end of sessions, for code of the host.
 *
 * @publicApi
 */
export class SessionFlow extends Flow {
  /**
   * As `POST /refresh`: returns new tokens of the same session.
   *
   * @throws InvalidRefreshToken, TooManyRequests, StoreUnavailable
   */
  refresh(refreshToken: string, source: CallSource): Promise<SessionTokens> {
    // Tolerates a value that is not a string, as the route does.
    const presented = typeof refreshToken === 'string' ? refreshToken.trim() : '';
    // In cookie mode the handler reads the cookie, and a call has the token.
    const rotate = (request: object): Promise<SessionTokens> => this.get(RefreshRotation).rotate(presented, request);
    return this.run(SessionsController, 'refresh', source, rotate, { refresh_token: refreshToken });
  }

  /** As `POST /logout`: ends the session of the caller. @throws Unauthenticated, NoSession, StoreUnavailable */
  logout(source: CallSource): Promise<void> {
    return this.call(SessionsController, 'logout', source);
  }

  /** As `GET /sessions`: lists the live sessions of the caller. @throws Unauthenticated, InsufficientScope */
  list(source: CallSource): Promise<ListedSession[]> {
    return this.call(SessionsController, 'own', source);
  }

  /**
   * As `DELETE /sessions/:id`: ends one session of the caller.
   *
   * @throws Unauthenticated, InsufficientScope, SessionNotFound, StoreUnavailable
   */
  end(sessionId: string, source: CallSource): Promise<void> {
    return this.call(SessionsController, 'end', source, { svcSession: sessionId });
  }

  /**
   * As `DELETE /sessions`: ends every session of the caller, and denies a token without a session itself. After an error some of them may have ended: repeat the call.
   *
   * @throws Unauthenticated, InsufficientScope, StoreUnavailable
   */
  endAll(source: CallSource): Promise<void> {
    return this.call(RevokeAllController, 'revokeAll', source);
  }

  /** As `DELETE /sessions/others`: ends every other session of the caller. Throws as {@link endAll} does. */
  endOthers(source: CallSource): Promise<void> {
    return this.call(SessionsController, 'revokeOthers', source);
  }
}
