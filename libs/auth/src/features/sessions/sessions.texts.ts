import { featureTexts } from '../../foundation/platform/messages';

export const SESSION_MESSAGES = {
  'auth.unverified_login': 'Please verify your email address before you sign in.',
  'auth.refresh_failed': 'The session could not be renewed. Please sign in again.',
  'auth.no_session': 'This token belongs to no session, so there is nothing to end.',
};

declare module '../../foundation/platform/messages' {
  interface FeatureMessages extends Record<keyof typeof SESSION_MESSAGES, string> {}
}

export const sessionText = featureTexts(SESSION_MESSAGES);
