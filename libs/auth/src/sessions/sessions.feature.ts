import { Pins } from '../abilities/pins';
import type { Feature } from '../realm/feature';
import { AccountTurns } from './account-turns';
import { ExpiredSessions } from './expired-sessions';
import { LogoutController } from './logout.controller';
import { RefreshRotation } from './refresh-rotation';
import { RefreshTokenStore } from './refresh-token.store';
import { RefreshController } from './refresh.controller';
import { RevokeAllController } from './revoke-all.controller';
import { RevokeOthersController } from './revoke-others.controller';
import { SessionGrounds } from './session-grounds';
import { SessionList } from './session-list';
import { SessionStore } from './session.store';
import { Sessions } from './sessions';
import { SessionsController } from './sessions.controller';
import { StoredPins } from './stored-pins';
import { TokenClaims } from './token-claims';

/** Sessions that start, renew and end. */
export const sessions: Feature = {
  controllers: [RefreshController, LogoutController, RevokeOthersController, SessionsController],
  providers: [
    { provide: Pins, useClass: StoredPins },
    TokenClaims,
    SessionStore,
    SessionGrounds,
    RefreshTokenStore,
    Sessions,
    AccountTurns,
    RefreshRotation,
    ExpiredSessions,
    SessionList,
  ],
};

export const logoutAll: Feature = {
  flags: ['logoutAll'],
  controllers: [RevokeAllController],
};
