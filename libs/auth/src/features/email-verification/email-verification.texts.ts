import { featureTexts } from '../../kit';

export const EMAIL_VERIFICATION_MESSAGES = {
  'auth.email_unverified': 'Confirm your email address first.',
  'auth.bad_link': 'This link is not valid, or not any more.',
  'auth.outdated_link': 'This link is for another email address.',
};

declare module '../../foundation/platform/messages' {
  interface FeatureMessages extends Record<keyof typeof EMAIL_VERIFICATION_MESSAGES, string> {}
}

export const emailVerificationText = featureTexts(EMAIL_VERIFICATION_MESSAGES);

declare module '../../foundation/ports/mail' {
  interface RequestedMails {
    emailVerification: MailTemplate;
  }
}
