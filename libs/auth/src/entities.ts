import { LockoutCounter } from './lockout/lockout-counter.entity';
import { Passkey } from './passkeys/passkey.entity';
import { PasswordResetToken } from './password-reset/password-reset.entity';
import { DenylistEpoch } from './revocations/denylist-epoch.entity';
import { Revocation } from './revocations/revocation.entity';
import { RefreshToken } from './sessions/refresh-token.entity';
import { Session } from './sessions/session.entity';

/**
 * Every entity of the library, for the `entities` of the host's data source.
 *
 * @publicApi
 */
export const authEntities = [
  Session,
  RefreshToken,
  LockoutCounter,
  Passkey,
  PasswordResetToken,
  Revocation,
  DenylistEpoch,
];
