import { defineFeature, event, identity, limiter, mailing, schema, session } from '../../kit';
import { FactorImports } from './imported-factor';
import { RecoveryCodes } from './recovery-codes';
import { RequiredEnrolmentFlow, RequiredTwoFactorController } from './required-two-factor';
import { EnrolmentFlow, OwnTwoFactor, RecoveryCodesController, TwoFactorController } from './two-factor.controller';
import { COLUMNS, SecondFactorRows } from './second-factor.store';
import { CodeFields, SecondFactors, TwoFactorCodes, exportedFactor } from './stored-factors';
import { UsedCodes, Totp } from './totp';
import { TwoFactor, removeFactor, removeNamedFactor } from './two-factor';
import { RecoveryCodesReplaced, TwoFactorDisabled, TwoFactorEnabled, TWO_FACTOR_EVENTS } from './two-factor.events';
import { TWO_FACTOR_OPTIONS } from './two-factor.options';

const reasons = {
  already_enrolled: 'a second factor is already enabled',
  not_enrolled: 'no second factor is enabled',
};

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends Readonly<typeof reasons> {}
}

/** TOTP and recovery codes. */
export const twoFactor = defineFeature('twoFactor', {
  flags: ['twoFactor'],
  writesUsers: () => 'UPDATE',
  reasons,
  languages: () => (require('./two-factor.languages') as typeof import('./two-factor.languages')).twoFactorLanguages,
  exported: { two_factor: schema.record({ enabled: schema.FLAG, confirmed_at: schema.orNull(schema.TIME) }) },
  options: TWO_FACTOR_OPTIONS,
  needsEncryptionKey: 'its secrets are encrypted at rest',
  mails: {
    twoFactorEnabled: mailing.CHANGE_MAIL,
    twoFactorDisabled: mailing.CHANGE_MAIL,
    recoveryCodesReplaced: mailing.CHANGE_MAIL,
  },
  informs: {
    // An import moves many users at once, and changes nothing for them.
    twoFactorEnabled: [event.informOn(TwoFactorEnabled, ({ userId, imported }) => (imported ? null : userId))],
    twoFactorDisabled: [event.informOn(TwoFactorDisabled, event.userIdOf)],
    recoveryCodesReplaced: [event.informOn(RecoveryCodesReplaced, event.userIdOf)],
  },
  credentialChanges: [
    { credential: 'app', change: 'create', source: event.informOn(TwoFactorEnabled, event.userIdOf) },
    { credential: 'app', change: 'delete', source: event.informOn(TwoFactorDisabled, event.userIdOf) },
  ],
  events: TWO_FACTOR_EVENTS,
  limits: {
    // By client, too: each request computes a hash for each recovery code, and a client may have many accounts.
    'svc-2fa-setup': limiter.perClientAndUser(limiter.twice(({ twoFactor: limit }) => limit)),
    'svc-2fa-confirm': limiter.perUser(limiter.twice(({ twoFactor: limit }) => limit)),
  },
  capabilities: { requiredEnrolment: RequiredEnrolmentFlow, enrolment: EnrolmentFlow, twoFactor: TwoFactor },
  controllers: [RequiredTwoFactorController],
  defaultGuardControllers: [TwoFactorController, RecoveryCodesController],
  providers: [Totp, UsedCodes, SecondFactors, RecoveryCodes, FactorImports, TwoFactor, OwnTwoFactor, TwoFactorCodes],
  fields: [
    { to: session.ChallengeRequest, from: CodeFields },
    { to: session.ConfirmPasswordRequest, from: CodeFields },
  ],
  factor: {
    service: TwoFactorCodes,
    // One-time password (RFC 8176 §2). A recovery code is also a one-time password.
    amr: 'otp',
    plural: 'codes',
    enrols: 'totp',
    answers: [
      { method: 'totp', fields: ['code'], isGuessable: true },
      { method: 'recovery_code', fields: ['recovery_code'] },
    ],
  },
  on: {
    endAll: identity.endChallenges,
    takeover: removeFactor,
    removeCredential: { kind: 'two_factor', remove: removeNamedFactor },
    credentialFacts: async (services, userId) => ({
      recovery_codes: (await services.get(TwoFactor).recoveryCodeCount(userId)).remaining,
    }),
    hasUnusableFactor: (services) => services.get(SecondFactors).hasUnusable,
  },
  userColumns: {
    properties: COLUMNS,
    migrationOf: (table) => `addTwoFactorColumns('${table}', timestamp)`,
    table: SecondFactorRows,
  },
  data: {
    // The secret is in the table of the users.
    entities: [],
    addedAt: 1764050000000,
    export: { two_factor: (services, userId) => exportedFactor(services.get(identity.TimedUserProvider), userId) },
  },
});
