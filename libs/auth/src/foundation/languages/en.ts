import { MESSAGES } from '../platform/messages';
import type { Catalogue } from './catalogue';

const NOT_YOU =
  'If this was not you, another person may have access to your account. Open {appName} as usual, reset your password, and contact support.';

/** The texts in English. */
export const en: Catalogue = {
  messages: MESSAGES,
  fields: {},
  mails: {
    passwordReset: {
      subject: 'Reset your password at {appName}',
      title: 'Reset your password',
      body: 'A password reset was requested for your account at {appName}.',
      link: 'Choose a new password',
      note: 'If you did not request it, ignore this mail: nothing has changed.',
    },
    emailVerification: {
      subject: 'Confirm your email address for {appName}',
      title: 'Confirm your email address',
      body: 'Please confirm that this is your email address.',
      link: 'Confirm the address',
      note: 'If you have no account at {appName}, ignore this mail.',
    },
    existingAccount: {
      subject: 'You already have an account at {appName}',
      title: 'You already have an account',
      body: 'A registration at {appName}, or a change of the address of another account, was attempted with this email address. It already has an account.\n\nIf it was you, sign in. If you cannot sign in, reset the password.',
      note: 'If it was not you, ignore this mail: nothing has changed.',
    },
    newSignIn: {
      subject: 'New sign-in to your account at {appName}',
      title: 'New sign-in',
      body: 'Your account at {appName} was used to sign in on a new device.\n\nIf this was not you, open the link. It ends all sessions, and you can choose a new password.',
      link: 'This was not me',
      note: 'If this was you, ignore this mail.',
    },
    emailChange: {
      subject: 'Confirm your new email address for {appName}',
      title: 'Confirm your new email address',
      body: 'This address was given as the new email address of an account at {appName}. It replaces the former address when you confirm it.',
      link: 'Confirm the new address',
      note: 'If you did not request this, ignore this mail: nothing changes.',
    },
    emailChanged: {
      subject: 'Your email address at {appName} was changed',
      title: 'Your email address was changed',
      body: 'The email address of your account at {appName} was changed.\n\nIf this was not you, open the link. It undoes the change and ends all sessions. Then you choose a new password.',
      bodyWithoutLink:
        'The email address of your account at {appName} was changed. This address is not used any more.\n\nIf this was not you, please contact support.',
      link: 'Undo the change',
      note: 'If this was you, ignore this mail.',
    },
    signInCode: {
      subject: 'Your sign-in code for {appName}',
      title: 'Your sign-in code',
      body: 'Enter this code to sign in to {appName}.',
      link: 'Sign in without the code',
      note: 'Do not give this code to anyone. If you did not try to sign in, ignore this mail.',
    },
    passwordChanged: {
      subject: 'Your password at {appName} was changed',
      title: 'Your password was changed',
      body: 'The password of your account at {appName} was changed.',
      note: NOT_YOU,
    },
    usernameChanged: {
      subject: 'Your user name at {appName} was changed',
      title: 'Your user name was changed',
      body: 'The user name of your account at {appName} was changed.',
      note: NOT_YOU,
    },
    twoFactorEnabled: {
      subject: 'Two-factor authentication at {appName} was enabled',
      title: 'Two-factor authentication was enabled',
      body: 'Two-factor authentication was enabled for your account at {appName}. Signing in with your password now also requires a code from your authenticator app.',
      note: NOT_YOU,
    },
    twoFactorDisabled: {
      subject: 'Two-factor authentication at {appName} was disabled',
      title: 'Two-factor authentication was disabled',
      body: 'Two-factor authentication was disabled for your account at {appName}. Signing in no longer requires a code from an authenticator app.',
      note: NOT_YOU,
    },
    recoveryCodesReplaced: {
      subject: 'Your recovery codes at {appName} were replaced',
      title: 'Your recovery codes were replaced',
      body: 'New recovery codes were created for your account at {appName}. The former codes are no longer valid.',
      note: NOT_YOU,
    },
    passkeyAdded: {
      subject: 'A passkey was added to your account at {appName}',
      title: 'A passkey was added',
      body: 'A passkey was added to your account at {appName}. It can be used to sign in.',
      note: NOT_YOU,
    },
    passkeyRemoved: {
      subject: 'A passkey was removed from your account at {appName}',
      title: 'A passkey was removed',
      body: 'A passkey was removed from your account at {appName}. It can no longer be used to sign in.',
      note: NOT_YOU,
    },
    deviceTrusted: {
      subject: 'A device is now trusted at {appName}',
      title: 'A device is trusted',
      body: 'A device is now trusted for your account at {appName}. Signing in on it no longer requires a second factor, only your password.',
      note: NOT_YOU,
    },
    accountLocked: {
      subject: 'Your account at {appName} was locked',
      title: 'Your account was locked',
      body: 'Too many wrong passwords or codes were entered for your account at {appName}, so the account was locked.\n\nIf the lock does not end after some time, please contact support.',
      note: 'If you did not make these attempts, another person is trying to get into your account. Choose a new password as soon as you can sign in again.',
    },
    accountDeleted: {
      subject: 'Your account at {appName} was deleted',
      title: 'Your account was deleted',
      body: 'Your account at {appName} was deleted.',
      note: 'If this was not you, please contact support at once.',
    },
    shared: {
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
  },
};
