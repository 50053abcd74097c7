import { EXAMPLE_LINK } from '../../foundation/ports/mail';
import { defineFeature } from '../../foundation/realm/feature';
import { perClientAndUser } from '../../request/throttling/limiters';
import { EMAIL_VERIFICATION_EVENTS, StoredVerifiedEmails, VerifiedEmails } from './verified-emails';
import { EmailDeliveries } from './email-delivery.store';
import { EmailVerification } from './email-verification';
import { VerificationLinks } from './verification-links';
import { QueuedVerificationMails, NoVerificationMails, VerificationMails } from './verification-mails';
import {
  VerificationNotificationController,
  VerifiedAnswer,
  VerifyEmailController,
} from './email-verification.controller';
import { EMAIL_VERIFICATION_OPTIONS } from './email-verification.options';

/** Verification of an email address with a mailed link. */
export const emailVerification = defineFeature('emailVerification', {
  flags: ['emailVerification'],
  languages: () =>
    (require('./email-verification.languages') as typeof import('./email-verification.languages'))
      .emailVerificationLanguages,
  options: EMAIL_VERIFICATION_OPTIONS,
  needsMailer: true,
  needsEncryptionKey: 'its links are signed with it',
  mails: { emailVerification: { class: 'requested', example: EXAMPLE_LINK } },
  events: EMAIL_VERIFICATION_EVENTS,
  limits: {
    'svc-email-verification': perClientAndUser(({ emailVerification: limit }) => limit),
  },
  defaultGuardControllers: [VerifyEmailController, VerificationNotificationController],
  providers: [
    EmailDeliveries,
    VerificationLinks,
    EmailVerification,
    VerifiedAnswer,
    StoredVerifiedEmails,
    VerifiedEmails,
    { provide: VerificationMails, useClass: QueuedVerificationMails },
  ],
  whenOff: [
    // Rows from the time when the feature was on are still pruned.
    EmailDeliveries,
    VerifiedEmails,
    { provide: VerificationMails, useClass: NoVerificationMails },
  ],
});
