/** Kinds of mails with their examples, and the queue that sends them. */
export {
  CHANGE_MAIL,
  EXAMPLE_CHANGE,
  EXAMPLE_LINK,
  type LinkMail,
  type Mail,
  type MailData,
  type NoticeKind,
  type NoticeMail,
  withQuery,
} from '../foundation/ports/mail';
export { ExistingAccountMails } from '../features/mail/existing-account-mails';
export type { Draft } from '../features/mail/mail-gate';
export type { EmailProof } from '../features/mail/mail-limits.policy';
export { MailQueue } from '../features/mail/mail-queue';
export { AccountMails } from '../features/mail/mail.feature';
