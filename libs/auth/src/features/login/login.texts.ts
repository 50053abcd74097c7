import { featureTexts } from '../../foundation/platform/messages';

export const LOGIN_MESSAGES = {
  'auth.wrong_credentials': 'These credentials do not match our records.',
};

declare module '../../foundation/platform/messages' {
  interface FeatureMessages extends Record<keyof typeof LOGIN_MESSAGES, string> {}
}

export const loginText = featureTexts(LOGIN_MESSAGES);
