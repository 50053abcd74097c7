import { TIME, UUID, listOf, orNull, record } from '../../foundation/platform/schema';
import { defineFeature } from '../../foundation/realm/feature';
import { perClient } from '../../request/throttling/limiters';
import { Accounts } from './accounts';
import { PinnedAbilityGate, PinnedSessions } from './pinned-ability.gate';
import { RevokeAllController, SessionFlow, SessionsController } from './sessions.controller';
import { RequestSessions, SignOutGate } from './request-sessions';
import { RefreshLimits, RefreshRotation, refreshRateOfAddress } from './refresh-rotation';
import { RefreshTokens } from '../../identity/tokens/refresh-tokens';
import { NewSessions } from './new-sessions';
import { Sessions } from './sessions';
import { AccountStandings, TokenClaims } from '../../identity/tokens/access-tokens';
import { SessionPrecondition, SignIn, SignInRecords, UnverifiedBlock } from './sign-in';
import { CreateSvcSessions1763700000000, Session } from './session.entity';
import { SessionExport, SessionList } from './session-list';
import { SessionErasure, SessionPruning } from './session-removal';
import { sessionLifeErrors } from './rotation.policy';
import { SessionStore } from './session.store';
import { SESSIONS_OPTIONS } from './sessions.options';
import { feature } from '../../foundation/config/option-table';
import { SESSION_EVENTS } from './sessions.events';

const reasons = {
  idle_session: 'the session was not refreshed for its idle time (`sessions.idleTimeout`)',
  no_session: 'the token names no session and cannot be denied, so there was nothing to end',
  no_such_session: 'the caller has no such session',
  reused_token: 'a replaced refresh token was used after the grace period: a copy of it exists',
  unknown_token: 'the refresh token does not exist',
  unproved_key: 'the sender of the refresh token has not proved the key of the session',
};

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends Readonly<typeof reasons> {}
}

/** Start, refresh, list and end of sessions. */
export const sessions = defineFeature('sessions', {
  keepsCredentials: ['others'],
  reasons,
  languages: () => (require('./sessions.languages') as typeof import('./sessions.languages')).sessionLanguages,
  options: SESSIONS_OPTIONS,
  events: SESSION_EVENTS,
  limits: {
    'svc-refresh': perClient(refreshRateOfAddress),
  },
  configErrors: sessionLifeErrors,
  exported: {
    sessions: listOf(
      record({
        session: UUID,
        created_at: TIME,
        last_rotated_at: orNull(TIME),
        revoked_at: orNull(TIME),
        expires_at: TIME,
      }),
    ),
  },
  waits: { refresh: { row: '`POST /refresh`', inARow: 3, longest: 1 } },
  capabilities: { sessions: SessionFlow },
  controllers: [SessionsController],
  providers: [
    TokenClaims,
    SessionStore,
    PinnedSessions,
    PinnedAbilityGate,
    AccountStandings,
    SessionPrecondition,
    SignInRecords,
    UnverifiedBlock,
    SignIn,
    RefreshTokens,
    Sessions,
    NewSessions,
    SessionErasure,
    Accounts,
    RefreshRotation,
    RefreshLimits,
    RequestSessions,
    SignOutGate,
    SessionPruning,
    SessionList,
    SessionExport,
  ],
  data: {
    entities: [{ entity: Session, migration: CreateSvcSessions1763700000000 }],
    export: { sessions: (services, userId) => services.get(SessionExport).export(userId) },
    // `SessionErasure` ends the sessions, and erases their rows.
    erase: [],
    prune: {
      sessions: { title: 'sessions', ofAllGuards: true, run: (services) => services.get(SessionPruning).prune() },
    },
  },
});

/** The route that ends all sessions of the caller. */
export const logoutAll = defineFeature('logoutAll', {
  flags: ['logoutAll'],
  options: { features: { logoutAll: feature({ default: true, env: 'FEATURE_LOGOUT_ALL' }) } },
  controllers: [RevokeAllController],
});
