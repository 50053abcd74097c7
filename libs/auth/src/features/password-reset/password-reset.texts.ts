import { featureTexts } from '../../kit';

export const PASSWORD_RESET_MESSAGES = {
  'auth.reset_failed': 'This link to reset the password is not valid any more. Please ask for a new one.',
};

declare module '../../foundation/platform/messages' {
  interface FeatureMessages extends Record<keyof typeof PASSWORD_RESET_MESSAGES, string> {}
}

export const passwordResetText = featureTexts(PASSWORD_RESET_MESSAGES);

declare module '../../foundation/ports/mail' {
  interface RequestedMails {
    passwordReset: MailTemplate;
  }
}
