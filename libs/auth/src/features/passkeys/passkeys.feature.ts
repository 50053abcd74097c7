import { PasskeyFlow } from './passkey-flow';
import { CHANGE_MAIL } from '../../foundation/ports/mail';
import { informOn, userIdOf } from '../../foundation/realm/informing';
import { endChallenges } from '../../identity/tokens/purpose-tokens';
import { INTEGER, TEXT, listOf, of, orNull, record } from '../../foundation/platform/schema';
import { defineFeature } from '../../foundation/realm/feature';
import { rowsOfUser } from '../../foundation/realm/feature-data';
import { perClient, perUser } from '../../request/throttling/limiters';
import { NoPasskeyFactor, PasskeyFactor } from '../login-challenge/second-factors';
import { AssertionVerifier } from './webauthn/verify-assertion';
import { Ceremonies } from './ceremonies';
import { ConditionalCreate } from './conditional-create';
import {
  ConditionalCreateController,
  ConfirmPasskeyController,
  PasskeyEnrolmentController,
  PasskeyLoginController,
  PasskeyPaths,
  PasskeysController,
} from './passkeys.controller';
import { CreateSvcPasskeys1764000000000, Passkey } from './passkey.entity';
import { PasskeyPruning } from './passkey-pruning';
import { PasskeyManagement, PasskeyEnrolment } from './passkey-enrolment';
import { PasskeyAsSecondFactor, PasskeyAssertions } from './passkey-assertions';
import { PasskeyConfirmation, PasskeyLogin } from './passkey-login';
import { PasskeyStore } from './passkey.store';
import { relyingPartyErrors } from './relying-party';
import { RequiredPasskey, RequiredPasskeyController } from './required-passkey';
import { RegistrationVerifier } from './webauthn/verify-registration';
import { EncryptedKeys } from './encrypted-keys';
import { WEBAUTHN, webauthnOnDemand } from './webauthn/library';
import { PasskeyAdded, PasskeyRemoved, PASSKEY_EVENTS } from './passkeys.events';
import { PASSKEYS_OPTIONS } from './passkeys.options';
import { CONDITIONAL_CREATE_OPTIONS } from './passkeys.options';

const reasons = {
  last_passkey: 'the passkey is the only way in which its user can sign in',
  no_such_passkey: 'the caller has no such passkey',
  passkey_not_registered: 'the verification of a new passkey failed',
  passkey_not_verified: 'the verification of a passkey failed',
  passkey_not_yours: 'the passkey belongs to another account',
};
type OwnReasons = typeof reasons;

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends OwnReasons {}
}

/** Passkeys: registration, sign-in and step-up with WebAuthn. */
export const passkeys = defineFeature('passkeys', {
  flags: ['passkeys'],
  reasons,
  languages: () => (require('./passkeys.languages') as typeof import('./passkeys.languages')).passkeyLanguages,
  options: PASSKEYS_OPTIONS,
  needsEncryptionKey: 'its secrets are encrypted at rest',
  mails: { passkeyAdded: CHANGE_MAIL, passkeyRemoved: CHANGE_MAIL },
  informs: { passkeyAdded: [informOn(PasskeyAdded, userIdOf)], passkeyRemoved: [informOn(PasskeyRemoved, userIdOf)] },
  events: PASSKEY_EVENTS,
  limits: {
    'svc-passkeys': perClient(({ passkeys: limit }) => limit),
    'svc-passkey-setup': perUser(({ passkeys: limit }) => limit),
  },
  configErrors: relyingPartyErrors,
  exported: {
    passkeys: listOf(
      record({ credential_id: TEXT, name: orNull(TEXT), last_used_at: orNull(of(INTEGER, 'Unix seconds.')) }),
    ),
  },
  capabilities: { passkeys: PasskeyFlow },
  defaultGuardControllers: [
    PasskeyEnrolmentController,
    PasskeyLoginController,
    PasskeysController,
    ConfirmPasskeyController,
    RequiredPasskeyController,
  ],
  providers: [
    { provide: WEBAUTHN, useFactory: () => webauthnOnDemand() },
    Ceremonies,
    EncryptedKeys,
    RegistrationVerifier,
    AssertionVerifier,
    PasskeyAssertions,
    PasskeyEnrolment,
    RequiredPasskey,
    PasskeyLogin,
    PasskeyConfirmation,
    PasskeyManagement,
    PasskeyPaths,
    { provide: PasskeyFactor, useClass: PasskeyAsSecondFactor },
  ],
  whenOff: [{ provide: PasskeyFactor, useClass: NoPasskeyFactor }],
  factor: true,
  on: { endAll: endChallenges, takeover: (services, taken) => services.get(PasskeyManagement).removeAll(taken) },
  data: {
    entities: [{ entity: Passkey, migration: CreateSvcPasskeys1764000000000 }],
    stores: [PasskeyStore, PasskeyPruning],
    export: { passkeys: (services, userId) => services.get(PasskeyStore).export(userId) },
    erase: [rowsOfUser(Passkey)],
    prune: { passkeys: { title: 'passkeys', run: (services) => services.get(PasskeyPruning).prune() } },
  },
});

/** The first passkey of a user, created by the browser without a question after a login with the password. */
export const conditionalCreate = defineFeature('conditionalCreate', {
  flags: ['conditionalCreate'],
  options: CONDITIONAL_CREATE_OPTIONS,
  needs: ['passkeys'],
  configErrors: ({ guards }) =>
    guards.some(({ isDefault, features }) => isDefault && features.conditionalCreate && !features.passkeys)
      ? ['features.conditionalCreate needs features.passkeys. Turn it on, or remove features.conditionalCreate.']
      : [],
  defaultGuardControllers: [ConditionalCreateController],
  providers: [ConditionalCreate],
});
