import { EmailDelivery } from './features/email-verification/email-delivery.entity';
import { EmailChange } from './features/email-change/email-change.entity';
import { KnownDevice } from './features/known-devices/known-device.entity';
import { LockoutCounter } from './request/lockout/lockout.entity';
import { Passkey } from './features/passkeys/passkey.entity';
import { PasswordResetToken } from './features/password-reset/reset-token.entity';
import { TrustedDevice } from './features/sessions/trusted-device.entity';
import { Session } from './identity/denylist/session.entity';

/**
 * All entities of the library, for the `entities` of the host's data source.
 *
 * @publicApi
 */
export const authEntities = [
  Session,
  LockoutCounter,
  Passkey,
  PasswordResetToken,
  EmailChange,
  KnownDevice,
  TrustedDevice,
  EmailDelivery,
];
