import type { Feature } from '../realm/feature';
import { NoPasskeyFactor, PasskeyFactor } from '../second-step/passkey-factor';
import { AssertionVerifier } from './assertion-verifier';
import { Ceremonies } from './ceremonies';
import { ConfirmPasskeyController } from './confirm-passkey.controller';
import { OrphanedPasskeys } from './orphaned-passkeys';
import { OwnPasskeys } from './own-passkeys';
import { PasskeyAssertions } from './passkey-assertions';
import { PasskeyConfirmation } from './passkey-confirmation';
import { PasskeyEnrolment } from './passkey-enrolment';
import { PasskeyEnrolmentController } from './passkey-enrolment.controller';
import { PasskeyLogin } from './passkey-login';
import { PasskeyLoginController } from './passkey-login.controller';
import { PasskeySecondStep } from './passkey-second-step';
import { PasskeyStore } from './passkey.store';
import { PasskeysController } from './passkeys.controller';
import { RegistrationVerifier } from './registration-verifier';
import { SealedKeys } from './sealed-keys';
import { WEBAUTHN, webauthnOnDemand } from './webauthn';

// On or off: rows from before the switch was turned off are still pruned.
const ALWAYS = [PasskeyStore, OrphanedPasskeys];

/** Passkeys: registration, sign-in and step-up with WebAuthn. */
export const passkeys: Feature = {
  flags: ['passkeys'],
  defaultGuardControllers: [
    PasskeyEnrolmentController,
    PasskeyLoginController,
    PasskeysController,
    ConfirmPasskeyController,
  ],
  providers: [
    ...ALWAYS,
    { provide: WEBAUTHN, useFactory: () => webauthnOnDemand() },
    Ceremonies,
    SealedKeys,
    RegistrationVerifier,
    AssertionVerifier,
    PasskeyAssertions,
    PasskeyEnrolment,
    PasskeyLogin,
    PasskeyConfirmation,
    OwnPasskeys,
    { provide: PasskeyFactor, useClass: PasskeySecondStep },
  ],
  whenOff: [...ALWAYS, { provide: PasskeyFactor, useClass: NoPasskeyFactor }],
};
