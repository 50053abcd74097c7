import { featureTexts, type mailing } from '../../kit';

export const EMAIL_CODE_MESSAGES = { 'auth.wrong_email_code': 'This code is not correct, or not valid any more.' };

declare module '../../foundation/platform/messages' {
  interface FeatureMessages extends Record<keyof typeof EMAIL_CODE_MESSAGES, string> {}
}

export const emailCodeText = featureTexts(EMAIL_CODE_MESSAGES);

/** The data of a mail with a code for a sign-in. */
export interface SignInCodeMail extends mailing.MailData {
  /** The code. It is a secret. */
  code: string;
  /** A link that contains the code. It works in the browser that requested the code only. Null if there is none. A secret. */
  url: string | null;
  /** Lifetime of the code and of the link in minutes. */
  minutes: number;
}

declare module '../../foundation/ports/mail' {
  interface RequestedMails {
    signInCode: MailTemplate<SignInCodeMail>;
  }
}
