export type {} from '../../foundation/ports/mail';

declare module '../../foundation/ports/mail' {
  interface RequestedMails {
    /** To the owner of an address when a registration (see `registration.concealExisting`) or a change of email contained it. */
    existingAccount: MailTemplate<MailData>;
  }
}
