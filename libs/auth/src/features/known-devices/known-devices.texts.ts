import { featureTexts, type mailing } from '../../kit';

export const KNOWN_DEVICE_MESSAGES = {
  'auth.report_failed':
    'This link is not valid any more. If you do not know the sign-in, reset your password and end all sessions.',
};

declare module '../../foundation/platform/messages' {
  interface FeatureMessages extends Record<keyof typeof KNOWN_DEVICE_MESSAGES, string> {}
}

export const knownDeviceText = featureTexts(KNOWN_DEVICE_MESSAGES);

/** The data of a mail about a sign-in on a device that is new for the account. */
export interface NewSignInMail extends mailing.LinkMail {
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
