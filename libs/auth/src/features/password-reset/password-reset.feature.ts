import { sharedColumn } from '../../identity/users/provider-checks';
import type { AuthConfig } from '../../foundation/config/auth-config';
import { EXAMPLE_LINK } from '../../foundation/ports/mail';
import { informOn } from '../../foundation/realm/informing';
import { defineFeature } from '../../foundation/realm/feature';
import { rowsOfUser } from '../../foundation/realm/feature-data';
import { perClient } from '../../request/throttling/limiters';
import { CreateSvcPasswordResets1764100000000, PasswordResetToken } from './reset-token.entity';
import { PasswordResetController, PasswordResetFlow } from './password-reset.controller';
import { ResetTokenPruning, ResetTokenStore, ResetTokens } from './reset-token.store';
import { PasswordReset } from '../login/password-replacement';
import { PasswordResets, ResetLinks } from './password-reset';
import { PASSWORD_RESET_OPTIONS } from './password-reset.options';

/** A broker must be declared: a typing error in its name would give its links the default validity. */
function brokerErrors({ guards }: AuthConfig): string[] {
  const errors = guards.flatMap(({ features, passwordReset: { broker, brokers }, nameOf }) => {
    if (!features.passwordReset || broker === null || Object.hasOwn(brokers, broker)) return [];
    const names = Object.keys(brokers).filter(Boolean);
    return `${nameOf('passwordReset.broker')} (SVC_RESET_BROKER) names "${broker}", but passwordReset.brokers has ${names.join(', ') || 'no entries'}. Add it: brokers: { ${JSON.stringify(broker)}: {} } uses the default values. Or unset passwordReset.broker.`;
  });
  // A guard that inherits the option would repeat the text.
  return [...new Set(errors)];
}

const reasons = {
  reset_failed: 'the reset link is not valid, has expired, was used before or is for another address',
};
type OwnReasons = typeof reasons;

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends OwnReasons {}
}

/** Reset of a forgotten password with a mailed link. */
export const passwordReset = defineFeature('passwordReset', {
  flags: ['passwordReset'],
  facts: { mailsPasswordLinks: 'features.passwordReset' },
  reasons,
  languages: () =>
    (require('./password-reset.languages') as typeof import('./password-reset.languages')).passwordResetLanguages,
  options: PASSWORD_RESET_OPTIONS,
  userErrors: (users, { features }) => [
    features.passwordReset && sharedColumn(users, 'email', 'features.passwordReset'),
  ],
  needsMailer: true,
  mails: { passwordReset: { class: 'requested', example: EXAMPLE_LINK } },
  informs: { passwordChanged: [informOn(PasswordReset, ({ user }, users) => users.idOf(user))] },
  limits: {
    'svc-password-reset': perClient(({ passwordReset: limit }) => limit),
  },
  configErrors: brokerErrors,
  writesUsers: () => 'UPDATE',
  waits: { 'reset of the password': { row: '`POST /reset-password`', inARow: 19, longest: 4 } },
  page: 'passwords.md',
  capabilities: { passwordReset: PasswordResetFlow },
  defaultGuardControllers: [PasswordResetController],
  providers: [ResetTokens, ResetLinks, PasswordResets],
  on: {
    passwordRenewed: (services, hash) => services.get(ResetTokenStore).renew(hash),
    passwordReplaced: (services, { userId, digest }) => services.get(ResetTokenStore).removeAll(userId, { digest }),
    emailReplaced: (services, userId, kept) => services.get(ResetTokenStore).removeAll(userId, kept),
    passwordLink: (services, address) => services.get(ResetLinks).request(address, true),
  },
  data: {
    entities: [{ entity: PasswordResetToken, migration: CreateSvcPasswordResets1764100000000 }],
    stores: [ResetTokenStore, ResetTokenPruning],
    erase: [rowsOfUser(PasswordResetToken)],
    prune: {
      resetTokens: {
        title: 'reset tokens',
        ofAllGuards: true,
        run: (services) => services.get(ResetTokenPruning).prune(),
      },
    },
  },
});
