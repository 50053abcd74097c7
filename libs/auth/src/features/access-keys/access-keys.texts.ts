import { featureTexts } from '../../kit';

export const ACCESS_KEYS_MESSAGES = {
  'auth.too_many_keys': 'You have the largest number of access keys. Revoke one first.',
  'auth.key_abilities': 'An access key cannot do more than you can.',
  'auth.key_expiry': 'Choose an expiry of at most {days} days.',
  'auth.key_networks': 'These are no networks. Use addresses or networks such as 192.0.2.0/24.',
};

declare module '../../foundation/platform/messages' {
  interface FeatureMessages extends Record<keyof typeof ACCESS_KEYS_MESSAGES, string> {}
}

export const accessKeysText = featureTexts(ACCESS_KEYS_MESSAGES);

declare module '../../foundation/ports/mail' {
  interface ChangeMails {
    accessKeyCreated: ChangeTemplate;
    accessKeyLeaked: ChangeTemplate;
    accessKeyNewNetwork: ChangeTemplate;
  }
}
