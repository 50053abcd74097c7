import { featureTexts } from '../../kit';

export const PASSKEY_MESSAGES = {
  'auth.passkey_not_verified': 'The passkey could not be verified.',
  'auth.passkey_not_registered': 'The passkey could not be registered.',
  'auth.passkey_unknown': 'No account has this passkey.',
  'auth.passkey_not_yours': 'This passkey belongs to another account.',
  'auth.confirm_with_passkey': 'Please confirm with your passkey.',
  'auth.last_passkey': 'This is your only way to sign in. Set a password or add another passkey first.',
};

declare module '../../foundation/platform/messages' {
  interface FeatureMessages extends Record<keyof typeof PASSKEY_MESSAGES, string> {}
}

export const passkeyText = featureTexts(PASSKEY_MESSAGES);

declare module '../../foundation/ports/mail' {
  interface ChangeMails {
    passkeyAdded: ChangeTemplate;
    passkeyRemoved: ChangeTemplate;
  }
}
