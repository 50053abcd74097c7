import { CHANGE_MAIL } from '../../foundation/ports/mail';
import { informOn, userIdOf } from '../../foundation/realm/informing';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { endChallenges } from '../../identity/tokens/purpose-tokens';
import { FLAG, TIME, orNull, record } from '../../foundation/platform/schema';
import { defineFeature } from '../../foundation/realm/feature';
import { perClientAndUser, perUser, twice } from '../../request/throttling/limiters';
import { CodeFactor, NoCodeFactor } from '../login-challenge/second-factors';
import { FactorImports } from './imported-factor';
import { OwnTwoFactor } from './own-two-factor';
import { RecoveryCodes } from './recovery-codes';
import {
  RequiredEnrolmentFlow,
  RequiredTwoFactor,
  RequiredTwoFactorController,
  TwoFactorRemoval,
} from './required-two-factor';
import { EnrolmentFlow, RecoveryCodesController, TwoFactorController } from './two-factor.controller';
import { COLUMNS, SecondFactorRows } from './second-factor.store';
import { SecondFactors, exportedFactor } from './stored-factors';
import { UsedCodes, Totp } from './totp';
import { TwoFactor } from './two-factor';
import { RecoveryCodesReplaced, TwoFactorDisabled, TwoFactorEnabled, TWO_FACTOR_EVENTS } from './two-factor.events';
import { TwoFactorCodes, removeFactor } from './code-factor';
import { TWO_FACTOR_OPTIONS } from './two-factor.options';

const reasons = {
  already_enrolled: 'a second factor is already enabled',
  not_enrolled: 'no second factor is enabled',
};
type OwnReasons = typeof reasons;

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends OwnReasons {}
}

/** TOTP and recovery codes. */
export const twoFactor = defineFeature('twoFactor', {
  flags: ['twoFactor'],
  writesUsers: () => 'UPDATE',
  reasons,
  languages: () => (require('./two-factor.languages') as typeof import('./two-factor.languages')).twoFactorLanguages,
  exported: { two_factor: record({ enabled: FLAG, confirmed_at: orNull(TIME) }) },
  options: TWO_FACTOR_OPTIONS,
  needsEncryptionKey: 'its secrets are encrypted at rest',
  mails: { twoFactorEnabled: CHANGE_MAIL, twoFactorDisabled: CHANGE_MAIL, recoveryCodesReplaced: CHANGE_MAIL },
  informs: {
    // An import moves many users at once, and changes nothing for them.
    twoFactorEnabled: [informOn(TwoFactorEnabled, ({ userId, imported }) => (imported ? null : userId))],
    twoFactorDisabled: [informOn(TwoFactorDisabled, userIdOf)],
    recoveryCodesReplaced: [informOn(RecoveryCodesReplaced, userIdOf)],
  },
  events: TWO_FACTOR_EVENTS,
  limits: {
    // By client, too: each request computes a hash for each recovery code, and a client may have many accounts.
    'svc-2fa-setup': perClientAndUser(twice(({ twoFactor: limit }) => limit)),
    'svc-2fa-confirm': perUser(twice(({ twoFactor: limit }) => limit)),
  },
  capabilities: { requiredEnrolment: RequiredEnrolmentFlow, enrolment: EnrolmentFlow, twoFactor: TwoFactor },
  controllers: [RequiredTwoFactorController],
  defaultGuardControllers: [TwoFactorController, RecoveryCodesController],
  providers: [
    Totp,
    UsedCodes,
    SecondFactors,
    RecoveryCodes,
    FactorImports,
    TwoFactor,
    OwnTwoFactor,
    TwoFactorRemoval,
    RequiredTwoFactor,
    { provide: CodeFactor, useClass: TwoFactorCodes },
  ],
  whenOff: [{ provide: CodeFactor, useClass: NoCodeFactor }],
  factor: true,
  on: {
    endAll: endChallenges,
    takeover: removeFactor,
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
    export: { two_factor: (services, userId) => exportedFactor(services.get(TimedUserProvider), userId) },
  },
});
