import { defineFeature } from '../../foundation/realm/feature';
import { rowsOfUser } from '../../foundation/realm/feature-data';
import { CreateSvcEmailDeliveries1764500000000, EmailDelivery } from './email-delivery.entity';
import { StoredVerifiedEmails, VerifiedEmails } from './verified-emails';
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
export const emailVerification = defineFeature('emailVerification', {
  flags: ['emailVerification'],
  defaultGuardControllers: [VerifyEmailController, VerificationNotificationController],
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
