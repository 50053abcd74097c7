import { CHANGE_MAIL } from '../../foundation/ports/mail';
import { defineFeature } from '../../foundation/realm/feature';
import { AccountExport } from './account-export';
import { AccountDataStore, Tables } from './account-rows.store';
import { AccountController } from './account.controller';
import { AccountDeletion, DeletionClaims } from './account-deletion';
import { feature, value } from '../../foundation/config/option-table';
import { ACCOUNT_EVENTS } from './account.events';

/** Export and deletion of an account by its owner. */
export const account = defineFeature('account', {
  flags: ['accountDeletion'],
  languages: () => (require('./account.languages') as typeof import('./account.languages')).accountLanguages,
  options: {
    features: { accountDeletion: feature({ default: true, env: 'FEATURE_ACCOUNT_DELETION' }) },
    hooks: { deleteUser: value() },
  },
  mails: { accountDeleted: CHANGE_MAIL },
  // The user is deleted, and cannot be read any more.
  informs: { accountDeleted: [({ get }, send) => get(AccountDeletion).onDeleted((user) => send({ user }))] },
  events: ACCOUNT_EVENTS,
  defaultGuardControllers: [AccountController],
  providers: [Tables, AccountDataStore, AccountExport, DeletionClaims, AccountDeletion],
});
