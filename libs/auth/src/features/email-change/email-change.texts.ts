import { featureTexts, type mailing } from '../../kit';

export const EMAIL_CHANGE_MESSAGES = {
  'auth.email_change_failed': 'This link to change the email address is not valid any more. Please ask for a new one.',
  'auth.new_email_taken':
    'Meanwhile, another account has got this email address. The address of your account is unchanged.',
  'auth.former_email_taken': 'Another account has this email address now. Please contact support.',
};

declare module '../../foundation/platform/messages' {
  interface FeatureMessages extends Record<keyof typeof EMAIL_CHANGE_MESSAGES, string> {}
}

export const emailChangeText = featureTexts(EMAIL_CHANGE_MESSAGES);

/** The data of the mail to the former address after a change of the address. */
export interface EmailChangedMail extends mailing.ReportMail {
  /** The new address with its local part shortened: `a…@example.com`. */
  newEmail: string;
  /**
   * The link that undoes the change. It is a secret. Null if the former address was not verified: it may belong to another
   * person.
   */
  url: string | null;
  /** Days for which the link is valid. */
  days: number;
}

declare module '../../foundation/ports/mail' {
  interface RequestedMails {
    /** To the new address of an account: its link confirms the change. */
    emailChange: MailTemplate;
  }
  interface SecurityMails {
    /** To the former address of an account. */
    emailChanged: MailTemplate<EmailChangedMail>;
  }
}
