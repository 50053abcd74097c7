import type { AuthConfig } from '../../foundation/config/auth-config';
import { failed, noMailer, urlFault } from '../../foundation/config/url-checks';
import type { Feature } from '../../foundation/realm/feature';
import { VerifiedEmails, NoVerifiedEmails, StoredVerifiedEmails } from './verified-emails';
import { EmailVerification } from './email-verification';
import { VerificationLinks } from './verification-links';
import { QueuedVerificationMails, NoVerificationMails, VerificationMails } from './verification-mails';
import {
  VerificationNotificationController,
  VerifiedAnswer,
  VerifyEmailController,
} from './email-verification.controller';

function configErrors({ guards, encryption, routes }: AuthConfig, production: boolean): string[] {
  const config = guards.find(({ isDefault }) => isDefault);
  if (!config?.features.emailVerification || !routes) return [];
  const { apiUrl, frontendUrl } = config.emailVerification;
  const ofApi = urlFault(apiUrl, { production, bare: true });
  const ofPage = frontendUrl === undefined ? null : urlFault(frontendUrl, { production });
  return failed(
    ofApi &&
      `emailVerification.apiUrl (SVC_VERIFY_API_URL) ${ofApi}. Set it to the external URL of this API, such as https://api.example.com: mailed links begin with it.`,
    ofPage &&
      `emailVerification.frontendUrl (SVC_VERIFY_URL) ${ofPage}. Set it to the page to which browsers are redirected, or remove it.`,
    !encryption.key &&
      'features.emailVerification needs encryption.key (SVC_ENCRYPTION_KEY): its links are signed with it. Generate one with svc:secret --show, and do not use the value of secret.',
    !config.mail.mailer && noMailer('emailVerification'),
  );
}

/** Verification of an email address with a mailed link. */
export const emailVerification: Feature = {
  flags: ['emailVerification'],
  configErrors,
  defaultGuardControllers: [VerifyEmailController, VerificationNotificationController],
  providers: [
    VerificationLinks,
    EmailVerification,
    VerifiedAnswer,
    { provide: VerifiedEmails, useClass: StoredVerifiedEmails },
    { provide: VerificationMails, useClass: QueuedVerificationMails },
  ],
  whenOff: [
    { provide: VerifiedEmails, useClass: NoVerifiedEmails },
    { provide: VerificationMails, useClass: NoVerificationMails },
  ],
};
