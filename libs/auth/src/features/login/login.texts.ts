import { featureTexts } from '../../foundation/platform/messages';

export const LOGIN_MESSAGES = {
  'auth.wrong_credentials': 'These credentials do not match our records.',
};

declare module '../../foundation/platform/messages' {
  interface FeatureMessages extends Record<keyof typeof LOGIN_MESSAGES, string> {}
}

export const loginText = featureTexts(LOGIN_MESSAGES);

declare module '../../foundation/ports/mail' {
  interface ChangeMails {
    /** After a change and after a reset of the password. */
    passwordChanged: ChangeTemplate;
  }
}
