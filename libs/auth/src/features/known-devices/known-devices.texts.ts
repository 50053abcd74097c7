import type { LinkMail } from '../../foundation/ports/mail';

/** The data of a mail about a sign-in on a device that is new for the account. */
export interface NewSignInMail extends LinkMail {
  /** Time of the sign-in. */
  time: Date;
  /** The address of the client; null if it is not known. */
  ip: string | null;
  /** The header `User-Agent`, which the client chooses: escape it. The built-in mail names only known browsers and systems. */
  userAgent: string | null;
}

declare module '../../foundation/ports/mail' {
  interface SecurityMails {
    newSignIn: MailTemplate<NewSignInMail>;
  }
}
