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

const reasons = {
  bad_link: 'the signature of a mailed link is not valid, or the link has expired',
  email_unverified: 'the route has `@RequireVerifiedEmail()`, and the email is not verified',
  outdated_link: 'the signature of the mailed link is valid, but the account has another address now',
};
type OwnReasons = typeof reasons;

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends OwnReasons {}
}

/** Verification of an email address with a mailed link. */
export const emailVerification = defineFeature('emailVerification', {
  flags: ['emailVerification'],
  reasons,
  options: EMAIL_VERIFICATION_OPTIONS,
  needsMailer: true,
  needsEncryptionKey: 'its links are signed with it',
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
