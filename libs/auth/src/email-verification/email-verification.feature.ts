import type { Feature } from '../realm/feature';
import { AddressProofs, NoProofs, StoredProofs } from './address-proofs';
import { EmailProof } from './email-proof';
import { VerificationLinks } from './verification-links';
import { MailedNotices, NoVerificationNotices, VerificationNotices } from './verification-notices';
import { VerificationNotificationController } from './verification-notification.controller';
import { VerifiedAnswer } from './verified-answer';
import { VerifyEmailController } from './verify-email.controller';

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
