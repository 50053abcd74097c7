import { featureTexts } from '../../kit';

export const IDENTITIES_MESSAGES = {
  'auth.identity_refused': 'The sign-in with this provider was not completed. Start it again.',
};

declare module '../../foundation/platform/messages' {
  interface FeatureMessages extends Record<keyof typeof IDENTITIES_MESSAGES, string> {}
}

export const identitiesText = featureTexts(IDENTITIES_MESSAGES);
