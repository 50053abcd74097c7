import { defineFeature } from '../../foundation/realm/feature';
import { AccountExport } from './account-export';
import { AccountDataStore, Tables } from './account-rows.store';
import { AccountController } from './account.controller';
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

/** Export and deletion of an account by its owner. */
export const account = defineFeature('account', {
  flags: ['accountDeletion'],
  reasons,
  options: {
    features: { accountDeletion: feature({ default: true, env: 'FEATURE_ACCOUNT_DELETION' }) },
    hooks: { deleteUser: value() },
  },
  events: ACCOUNT_EVENTS,
  defaultGuardControllers: [AccountController],
  providers: [Tables, AccountDataStore, AccountExport, DeletionClaims, AccountDeletion],
});
