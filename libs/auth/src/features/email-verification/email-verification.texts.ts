import '../../foundation/ports/mail';

declare module '../../foundation/ports/mail' {
  interface RequestedMails {
    emailVerification: MailTemplate;
  }
}
