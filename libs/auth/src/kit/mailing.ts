/** Kinds of mails with their examples, and the queue that sends them. */
export {
  CHANGE_MAIL,
  type ChangeKind,
  EXAMPLE_CHANGE,
  EXAMPLE_LINK,
  type LinkMail,
  type Mail,
  type MailData,
  type ReportMail,
} from '../foundation/ports/mail';
export { mailedLink, withQuery } from '../foundation/config/url-checks';
export { AccountMails, ExistingAccountMails } from '../features/mail/account-mails';
export { type Draft, mailsOf } from '../features/mail/mail-gate';
export { MailQueue } from '../features/mail/mail-queue';
export { unknownNames } from '../features/mail/mail.feature';
