import { defineFeature, identity, mailing, option, type settings } from '../../kit';
import { AccountExport, AccountDataStore } from './account-data';
import { AccountController, AccountFlow } from './account.controller';
import { AccountDeletion, DeletionClaims } from './account-deletion';
import { ACCOUNT_EVENTS } from './account.events';

const reasons = {
  deletion_busy: 'other deletions, of this account or of too many others, are running (503)',
};

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends Readonly<typeof reasons> {}
}

function userErrors(users: identity.UserProvider, guard: settings.GuardConfig): (string | false)[] {
  if (!guard.features.accountDeletion) return [];
  return [
    !guard.hooks.deleteUser &&
      !users.offers('delete') &&
      `features.accountDeletion is on, but the users of the guard "${guard.guard}" cannot be deleted. Implement ` +
        'delete in your UserProvider, set hooks.deleteUser, or turn the feature off.',
    !identity.overrides(users, 'identifierOf') &&
      `features.accountDeletion also erases the counters of the identifier. ${identity.implement('identifierOf', guard)}, or switch the feature off.`,
  ];
}

/** Export and deletion of an account by its owner. */
export const account = defineFeature('account', {
  flags: ['accountDeletion'],
  // They are deleted with the account.
  keepsCredentials: ['erased'],
  reasons,
  languages: () => (require('./account.languages') as typeof import('./account.languages')).accountLanguages,
  userErrors,
  options: {
    features: { accountDeletion: option.feature({ default: true, env: 'FEATURE_ACCOUNT_DELETION' }) },
    hooks: { deleteUser: option.value() },
  },
  mails: { accountDeleted: mailing.CHANGE_MAIL },
  // The user is deleted, and cannot be read any more.
  informs: { accountDeleted: [({ get }, send) => get(AccountDeletion).onDeleted((user) => send({ user }))] },
  events: ACCOUNT_EVENTS,
  writesUsers: ({ hooks }) => !hooks.deleteUser && 'DELETE',
  capabilities: { account: AccountFlow },
  defaultGuardControllers: [AccountController],
  providers: [AccountDataStore, AccountExport, DeletionClaims, AccountDeletion],
});
