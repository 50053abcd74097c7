import { featureTexts } from '../../foundation/platform/messages';

export const LOGIN_MESSAGES = {
  'auth.wrong_credentials': 'These credentials do not match our records.',
  'auth.unverified_login': 'Please verify your email address before you sign in.',
};

declare module '../../foundation/platform/messages' {
  interface FeatureMessages extends Record<keyof typeof LOGIN_MESSAGES, string> {}
}

export const loginText = featureTexts(LOGIN_MESSAGES);
