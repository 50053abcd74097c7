import { featureTexts } from '../../kit';

export const BOUND_SESSIONS_MESSAGES = {
  'auth.invalid_proof': 'This device could not prove its key. Check its date and time, and try again.',
};

declare module '../../foundation/platform/messages' {
  interface FeatureMessages extends Record<keyof typeof BOUND_SESSIONS_MESSAGES, string> {}
}

export const boundSessionsText = featureTexts(BOUND_SESSIONS_MESSAGES);
