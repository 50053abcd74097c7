import { featureTexts } from '../../kit';

export const IDENTITIES_MESSAGES = {
  'auth.identity_not_linked':
    'This sign-in is not linked to an account yet. Sign in another way, and link it in your account.',
  'auth.identity_taken': 'This sign-in is already linked to an account.',
  'auth.last_identity':
    'This is the only way in which you can sign in. Set a password, add a passkey or link another sign-in first.',
  'auth.identity_refused': 'The sign-in with this provider was not completed. Start it again.',
};

declare module '../../foundation/platform/messages' {
  interface FeatureMessages extends Record<keyof typeof IDENTITIES_MESSAGES, string> {}
}

export const identitiesText = featureTexts(IDENTITIES_MESSAGES);

declare module '../../foundation/ports/mail' {
  interface ChangeMails {
    identityLinked: ChangeTemplate;
    identityUnlinked: ChangeTemplate;
  }
}
