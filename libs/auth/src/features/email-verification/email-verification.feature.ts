import type { GuardConfig } from '../../foundation/config/auth-config';
import type { UserProvider } from '../../foundation/ports/user-provider';
import { knowsVerifiedEmails, unknownEmails } from '../../identity/users/provider-checks';
import { EXAMPLE_LINK } from '../../foundation/ports/mail';
import { defineFeature } from '../../foundation/realm/feature';
import { rowsOfUser } from '../../foundation/realm/feature-data';
import { perClientAndUser } from '../../request/throttling/limiters';
import { CreateSvcEmailDeliveries1764500000000, EmailDelivery } from './email-delivery.entity';
import { EMAIL_VERIFICATION_EVENTS, StoredVerifiedEmails, VerifiedEmails } from './verified-emails';
import { EmailDeliveries } from './email-delivery.store';
import { EmailVerification } from './email-verification';
import { VerificationLinks } from './verification-links';
import { QueuedVerificationMails, NoVerificationMails, VerificationMails } from './verification-mails';
import { EmailVerificationFlow, VerifiedAnswer, VerifyEmailController } from './email-verification.controller';
import { EMAIL_VERIFICATION_OPTIONS } from './email-verification.options';

const reasons = {
  bad_link: 'the signature of a mailed link is not valid, or the link has expired',
  email_unverified: 'the route has `@RequireVerifiedEmail()`, and the email is not verified',
  outdated_link: 'the signature of the mailed link is valid, but the account has another address now',
};

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends Readonly<typeof reasons> {}
}

function userErrors(users: UserProvider, options: GuardConfig): (string | false)[] {
  const { guard, features, isDefault, emailVerification: block } = options;
  return [
    features.emailVerification &&
      !users.verifiesEmails() &&
      `features.emailVerification is on, but the users of the guard "${guard}" have no verified email. Give ` +
        'the entity a column emailVerifiedAt (timestamptz, nullable), or implement isEmailVerified, verifiesEmails ' +
        'and markEmailVerified in your UserProvider.',
    features.emailVerification &&
      !knowsVerifiedEmails(users) &&
      unknownEmails('features.emailVerification', guard, 'turn the feature off'),
    isDefault &&
      block.blockUnverifiedLogin &&
      !knowsVerifiedEmails(users) &&
      unknownEmails('emailVerification.blockUnverifiedLogin', guard, 'turn it off'),
  ];
}

/** Verification of an email address with a mailed link. */
export const emailVerification = defineFeature('emailVerification', {
  flags: ['emailVerification'],
  reasons,
  languages: () =>
    (require('./email-verification.languages') as typeof import('./email-verification.languages'))
      .emailVerificationLanguages,
  options: EMAIL_VERIFICATION_OPTIONS,
  userErrors,
  needsMailer: true,
  needsEncryptionKey: 'its links are signed with it',
  mails: { emailVerification: { class: 'requested', example: EXAMPLE_LINK } },
  events: EMAIL_VERIFICATION_EVENTS,
  limits: {
    'svc-email-verification': perClientAndUser(({ emailVerification: limit }) => limit),
  },
  capabilities: { emailVerification: EmailVerificationFlow },
  defaultGuardControllers: [VerifyEmailController],
  providers: [
    VerificationLinks,
    EmailVerification,
    VerifiedAnswer,
    StoredVerifiedEmails,
    VerifiedEmails,
    { provide: VerificationMails, useClass: QueuedVerificationMails },
  ],
  whenOff: [VerifiedEmails, { provide: VerificationMails, useClass: NoVerificationMails }],
  data: {
    entities: [{ entity: EmailDelivery, migration: CreateSvcEmailDeliveries1764500000000 }],
    stores: [EmailDeliveries],
    erase: [rowsOfUser(EmailDelivery)],
    prune: { emailDeliveries: { title: 'opened links', run: (services) => services.get(EmailDeliveries).prune() } },
  },
});
