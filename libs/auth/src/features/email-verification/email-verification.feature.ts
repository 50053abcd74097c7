import type { Feature } from '../../foundation/realm/feature';
import { VerifiedEmails, NoVerifiedEmails, StoredVerifiedEmails } from './verified-emails';
import { EmailDeliveries } from './email-delivery.store';
import { EmailVerification } from './email-verification';
import { VerificationLinks } from './verification-links';
import { QueuedVerificationMails, NoVerificationMails, VerificationMails } from './verification-mails';
import {
  VerificationNotificationController,
  VerifiedAnswer,
  VerifyEmailController,
} from './email-verification.controller';

/** Verification of an email address with a mailed link. */
export const emailVerification: Feature = {
  flags: ['emailVerification'],
  defaultGuardControllers: [VerifyEmailController, VerificationNotificationController],
  providers: [
    EmailDeliveries,
    VerificationLinks,
    EmailVerification,
    VerifiedAnswer,
    { provide: VerifiedEmails, useClass: StoredVerifiedEmails },
    { provide: VerificationMails, useClass: QueuedVerificationMails },
  ],
  whenOff: [
    // Rows from the time when the feature was on are still pruned.
    EmailDeliveries,
    { provide: VerifiedEmails, useClass: NoVerifiedEmails },
    { provide: VerificationMails, useClass: NoVerificationMails },
  ],
};
