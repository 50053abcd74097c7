import { LockoutCounter } from './lockout/lockout-counter.entity';
import { Passkey } from './passkeys/passkey.entity';
import { PasswordResetToken } from './password-reset/password-reset.entity';
import { Session } from './session-state/session.entity';

/**
 * Every entity of the library, for the `entities` of the host's data source.
 *
 * @publicApi
 */
export const authEntities = [Session, LockoutCounter, Passkey, PasswordResetToken];
