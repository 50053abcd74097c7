import { MESSAGES } from '../platform/messages';
import type { CoreTexts } from './catalogue';

/** The texts in English that belong to no feature. */
export const en: CoreTexts = {
  messages: MESSAGES,
  fields: {},
  shared: {
    greeting: 'Hello {name},',
    linkValidity: 'The link is valid for {duration}.',
    codeValidity: 'The code is valid for {duration}.',
    linkAddress: 'If the button does not work, open this address:',
    time: 'Time',
    device: 'Device',
    ipAddress: 'IP address',
    newEmail: 'New address',
    unknown: 'unknown',
    footer: '{appName} sent this mail automatically to {to}.',
  },
  notYou: {
    preheader: 'Was this not you? Reset your password and contact support.',
    note: 'If this was not you, another person may have access to your account. Open {appName} as usual, reset your password, and contact support.',
  },
};
