import type { Feature } from '../../foundation/realm/feature';
import { AddressProofs, NoProofs, StoredProofs } from './verified-emails';
import { EmailProof } from './email-verification';
import { VerificationLinks } from './verification-links';
import { MailedNotices, NoVerificationNotices, VerificationNotices } from './verification-mails';
import {
  VerificationNotificationController,
  VerifiedAnswer,
  VerifyEmailController,
} from './email-verification.controller';

/** Proof of an email address through a mailed link. */
export const emailVerification: Feature = {
  flags: ['emailVerification'],
  defaultGuardControllers: [VerifyEmailController, VerificationNotificationController],
  providers: [
    VerificationLinks,
    EmailProof,
    VerifiedAnswer,
    { provide: AddressProofs, useClass: StoredProofs },
    { provide: VerificationNotices, useClass: MailedNotices },
  ],
  whenOff: [
    { provide: AddressProofs, useClass: NoProofs },
    { provide: VerificationNotices, useClass: NoVerificationNotices },
  ],
};
