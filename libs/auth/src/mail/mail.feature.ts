import type { Feature } from '../realm/feature';
import { AccountMails } from './account-mails';
import { MailQueue } from './mail-queue';

/** What the library writes to its users. */
export const mail: Feature = {
  flags: ['passwordReset', 'emailVerification'],
  providers: [MailQueue, AccountMails],
};
