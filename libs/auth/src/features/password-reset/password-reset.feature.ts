import { data, defineFeature, event, identity, limiter, mailing, session, type settings } from '../../kit';
import { CreateSvcPasswordResets1764100000000, PasswordResetToken } from './reset-token.entity';
import { PasswordResetController, PasswordResetFlow } from './password-reset.controller';
import { ResetTokenPruning, ResetTokenStore } from './reset-token.store';
import { PasswordResets, RESET_HOOKS, ResetLinks } from './password-reset';
import { PASSWORD_RESET_OPTIONS } from './password-reset.options';

/** A broker must be declared: a typing error in its name would give its links the default validity. */
function brokerErrors({ guards }: settings.AuthConfig): string[] {
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

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends Readonly<typeof reasons> {}
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
    features.passwordReset && identity.sharedColumn(users, 'email', 'features.passwordReset'),
  ],
  needsMailer: true,
  mails: { passwordReset: { class: 'requested', example: mailing.EXAMPLE_LINK } },
  informs: { passwordChanged: [event.informOn(session.PasswordReset, ({ user }, users) => users.idOf(user))] },
  limits: {
    'svc-password-reset': limiter.perClient(({ passwordReset: limit }) => limit),
  },
  configErrors: brokerErrors,
  writesUsers: () => 'UPDATE',
  waits: { 'reset of the password': { row: '`POST /reset-password`', inARow: 22, longest: 4 } },
  page: 'passwords.md',
  capabilities: { passwordReset: PasswordResetFlow },
  defaultGuardControllers: [PasswordResetController],
  providers: [ResetLinks, PasswordResets],
  on: RESET_HOOKS,
  data: {
    entities: [{ entity: PasswordResetToken, migration: CreateSvcPasswordResets1764100000000 }],
    stores: [ResetTokenStore, ResetTokenPruning],
    erase: [data.rowsOfUser(PasswordResetToken)],
    prune: {
      resetTokens: {
        title: 'reset tokens',
        ofAllGuards: true,
        run: (services) => services.get(ResetTokenPruning).prune(),
      },
    },
  },
});
