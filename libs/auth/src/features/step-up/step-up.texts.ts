import { featureTexts } from '../../foundation/platform/messages';

export const STEP_UP_MESSAGES = {
  'auth.wrong_password': 'The password is not correct.',
  'auth.confirmation_required': 'Please confirm your identity to continue.',
  'auth.recent_login_required': 'Please sign in again to continue.',
  'auth.factor_required': 'Please sign in with a second factor to continue.',
};

declare module '../../foundation/platform/messages' {
  interface FeatureMessages extends Record<keyof typeof STEP_UP_MESSAGES, string> {}
}

export const stepUpText = featureTexts(STEP_UP_MESSAGES);
