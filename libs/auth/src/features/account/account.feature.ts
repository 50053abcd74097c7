import type { GuardConfig } from '../../foundation/config/auth-config';
import type { UserProvider } from '../../foundation/ports/user-provider';
import { implement, overrides } from '../../identity/users/provider-checks';
import { CHANGE_MAIL } from '../../foundation/ports/mail';
import { defineFeature } from '../../foundation/realm/feature';
import { AccountExport } from './account-export';
import { AccountDataStore } from './account-rows.store';
import { AccountController, AccountFlow } from './account.controller';
import { AccountDeletion, DeletionClaims } from './account-deletion';
import { feature, value } from '../../foundation/config/option-table';
import { ACCOUNT_EVENTS } from './account.events';

const reasons = {
  deletion_busy: 'other deletions, of this account or of too many others, are running (503)',
};
type OwnReasons = typeof reasons;

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends OwnReasons {}
}

function userErrors(users: UserProvider, guard: GuardConfig): (string | false)[] {
  if (!guard.features.accountDeletion) return [];
  return [
    !guard.hooks.deleteUser &&
      !users.deletesAccounts() &&
      `features.accountDeletion is on, but the users of the guard "${guard.guard}" cannot be deleted. Implement ` +
        'deletesAccounts and delete in your UserProvider, set hooks.deleteUser, or turn the feature off.',
    !overrides(users, 'identifierOf') &&
      `features.accountDeletion also erases the counters of the identifier. ${implement('identifierOf', guard)}, or switch the feature off.`,
  ];
}

/** Export and deletion of an account by its owner. */
export const account = defineFeature('account', {
  flags: ['accountDeletion'],
  reasons,
  languages: () => (require('./account.languages') as typeof import('./account.languages')).accountLanguages,
  userErrors,
  options: {
    features: { accountDeletion: feature({ default: true, env: 'FEATURE_ACCOUNT_DELETION' }) },
    hooks: { deleteUser: value() },
  },
  mails: { accountDeleted: CHANGE_MAIL },
  // The user is deleted, and cannot be read any more.
  informs: { accountDeleted: [({ get }, send) => get(AccountDeletion).onDeleted((user) => send({ user }))] },
  events: ACCOUNT_EVENTS,
  writesUsers: ({ hooks }) => !hooks.deleteUser && 'DELETE',
  capabilities: { account: AccountFlow },
  defaultGuardControllers: [AccountController],
  providers: [AccountDataStore, AccountExport, DeletionClaims, AccountDeletion],
});
