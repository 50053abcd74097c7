import { featureTexts } from '../../kit';

export const OPERATORS_MESSAGES = {
  'auth.no_such_user': 'There is no such user.',
  'auth.operator_protected': 'This user is an operator. Use the console.',
  'auth.nothing_to_remove': 'The user does not have it.',
  'auth.credential_kind': 'Name one of these kinds: {kinds}.',
  'auth.no_password': 'The user has no password, or cannot get a link to choose a new one.',
  'auth.not_suspended': 'The user is not suspended.',
  'auth.cannot_act': 'You cannot act as a user who may not sign in.',
  'auth.actor_refused': 'This is not possible while you act as the user.',
  'auth.acting_abilities': 'You cannot act as the user with these abilities.',
};

declare module '../../foundation/platform/messages' {
  interface FeatureMessages extends Record<keyof typeof OPERATORS_MESSAGES, string> {}
}

export const operatorsText = featureTexts(OPERATORS_MESSAGES);

declare module '../../foundation/ports/mail' {
  interface ChangeMails {
    accountSuspended: ChangeTemplate;
    supportEndedSessions: ChangeTemplate;
    supportSignedIn: ChangeTemplate;
  }
}
