import { PasskeyFlow } from './passkey-flow';
import { data, defineFeature, event, identity, limiter, mailing, type manifest, schema, session } from '../../kit';
import { AssertionVerifier } from './webauthn/verify-assertion';
import { Ceremonies } from './ceremonies';
import { ConditionalCreate, PasskeyManagement, PasskeyEnrolment, passkeyWay } from './passkey-enrolment';
import {
  ConditionalCreateController,
  ConfirmPasskeyController,
  PasskeyEnrolmentController,
  PasskeyLoginController,
  PasskeyPaths,
  PasskeysController,
  RelatedOrigins,
} from './passkeys.controller';
import { CreateSvcPasskeys1764000000000, Passkey } from './passkey.entity';
import { PasskeyPruning, PasskeyStore, EncryptedKeys } from './passkey.store';
import { AssertionFields, PasskeyAsSecondFactor, PasskeyAssertions } from './passkey-assertions';
import { PasskeyConfirmation, PasskeyLogin } from './passkey-login';
import { PasskeyRegistration, PasskeyRegistrationController } from './passkey-registration';
import { PasskeyConfirmationRequired } from './passkeys.errors';
import { relyingPartyErrors, verificationErrors } from './relying-party';
import { RequiredPasskeyController } from './required-passkey';
import { RegistrationVerifier } from './webauthn/verify-registration';
import { WEBAUTHN, webauthnOnDemand } from './webauthn/library';
import { PasskeyAdded, PasskeyRemoved, PASSKEY_EVENTS } from './passkeys.events';
import { PASSKEYS_OPTIONS, CONDITIONAL_CREATE_OPTIONS, PASSKEY_REGISTRATION_OPTIONS } from './passkeys.options';

const reasons = {
  last_passkey: 'the passkey is the only way in which its user can sign in',
  no_such_passkey: 'the caller has no such passkey',
  passkey_not_registered: 'the verification of a new passkey failed',
  passkey_not_verified: 'the verification of a passkey failed',
  passkey_unknown: 'no account has the passkey',
  passkey_not_yours: 'the passkey belongs to another account',
};

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends Readonly<typeof reasons> {}
}

/** Passkeys: registration, sign-in and step-up with WebAuthn. */
export const passkeys = defineFeature('passkeys', {
  flags: ['passkeys'],
  reasons,
  languages: () => (require('./passkeys.languages') as typeof import('./passkeys.languages')).passkeyLanguages,
  options: PASSKEYS_OPTIONS,
  needsEncryptionKey: 'its secrets are encrypted at rest',
  mails: { passkeyAdded: mailing.CHANGE_MAIL, passkeyRemoved: mailing.CHANGE_MAIL },
  informs: {
    passkeyAdded: [event.informOn(PasskeyAdded, event.userIdOf)],
    passkeyRemoved: [event.informOn(PasskeyRemoved, event.userIdOf)],
  },
  credentialChanges: (['platform', 'roaming'] as const).flatMap(
    (kind): manifest.Feature['credentialChanges'] & object => {
      const ofKind = ({ userId, authenticator }: PasskeyAdded | PasskeyRemoved) =>
        authenticator === kind ? userId : null;
      return [
        { credential: `fido2-${kind}`, change: 'create', source: event.informOn(PasskeyAdded, ofKind) },
        { credential: `fido2-${kind}`, change: 'delete', source: event.informOn(PasskeyRemoved, ofKind) },
      ];
    },
  ),
  events: PASSKEY_EVENTS,
  limits: {
    'svc-passkeys': limiter.perClient(({ passkeys: limit }) => limit),
    'svc-passkey-setup': limiter.perUser(({ passkeys: limit }) => limit),
  },
  configErrors: (config) => [...relyingPartyErrors(config), ...verificationErrors(config)],
  exported: {
    passkeys: schema.listOf(
      schema.record({
        credential_id: schema.TEXT,
        name: schema.orNull(schema.TEXT),
        last_used_at: schema.orNull(schema.of(schema.INTEGER, 'Unix seconds.')),
      }),
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
    PasskeyLogin,
    PasskeyConfirmation,
    PasskeyManagement,
    PasskeyPaths,
    RelatedOrigins,
    PasskeyAsSecondFactor,
  ],
  fields: [{ to: session.ChallengeRequest, from: AssertionFields }],
  factor: {
    service: PasskeyAsSecondFactor,
    amr: 'webauthn',
    plural: 'passkeys',
    enrols: 'passkey',
    answers: [{ method: 'passkey', fields: ['ceremony_id', 'credential'], field: 'credential', releases: ['confirm'] }],
    askedBy: { option: 'passkeys.required', value: (options) => options.passkeys.required },
    confirmsAlone: { method: 'passkey', refusal: () => new PasskeyConfirmationRequired() },
    verifiesUser: (options) => options.passkeys.userVerification === 'required',
  },
  on: {
    endAll: identity.endChallenges,
    signInWays: async (services, userId) => async (sql) =>
      (await services.get(PasskeyStore).lockedIds(sql, userId)).map(passkeyWay),
    takeover: (services, taken) => services.get(PasskeyManagement).removeAll(taken),
    removeCredential: {
      kind: 'passkeys',
      remove: (services, named) => services.get(PasskeyManagement).removeNamed(named),
    },
  },
  data: {
    entities: [{ entity: Passkey, migration: CreateSvcPasskeys1764000000000 }],
    stores: [PasskeyStore, PasskeyPruning],
    export: { passkeys: (services, userId) => services.get(PasskeyStore).export(userId) },
    erase: [data.rowsOfUser(Passkey)],
    prune: { passkeys: { title: 'passkeys', run: (services) => services.get(PasskeyPruning).prune() } },
  },
});

/** The first passkey of a user, created by the browser without a question after a login with the password. */
export const conditionalCreate = defineFeature('conditionalCreate', {
  flags: ['conditionalCreate'],
  options: CONDITIONAL_CREATE_OPTIONS,
  needs: ['passkeys'],
  defaultGuardControllers: [ConditionalCreateController],
  providers: [ConditionalCreate],
});

/** Registration with a passkey and without a password. */
export const passkeyRegistration = defineFeature('passkeyRegistration', {
  flags: ['passkeyRegistration'],
  options: PASSKEY_REGISTRATION_OPTIONS,
  userErrors: (users, { guard, features, hooks }) => [
    features.passkeyRegistration &&
      !hooks.register &&
      users instanceof identity.TypeormUserProvider &&
      !users.allowsNoPassword &&
      `features.passkeyRegistration creates accounts without a password, but the users of the guard "${guard}" need one. ` +
        'Make the column passwordHash nullable, in the entity and by a migration.',
  ],
  needs: ['registration', 'passkeys'],
  checkedWith: ['accountCreated'],
  defaultGuardControllers: [PasskeyRegistrationController],
  providers: [PasskeyRegistration],
});
