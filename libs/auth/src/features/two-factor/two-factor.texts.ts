import { featureTexts } from '../../kit';

export const TWO_FACTOR_MESSAGES = {
  'auth.already_enrolled': 'Two-factor authentication is already enabled.',
  'auth.unusable_secret': 'The secret must be base32 of 10 to 64 bytes, for SHA-1, six digits and 30 seconds.',
  'auth.unusable_hash': 'This hash is not of a kind that can be verified.',
  'auth.not_enrolled': 'Two-factor authentication is not enabled.',
};

declare module '../../foundation/platform/messages' {
  interface FeatureMessages extends Record<keyof typeof TWO_FACTOR_MESSAGES, string> {}
}

export const twoFactorText = featureTexts(TWO_FACTOR_MESSAGES);

declare module '../../foundation/ports/mail' {
  interface ChangeMails {
    twoFactorEnabled: ChangeTemplate;
    twoFactorDisabled: ChangeTemplate;
    recoveryCodesReplaced: ChangeTemplate;
  }
}
