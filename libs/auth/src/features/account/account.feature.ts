import { defineFeature } from '../../foundation/realm/feature';
import { AccountExport } from './account-export';
import { AccountDataStore } from './account-rows.store';
import { AccountController } from './account.controller';
import { AccountDeletion, DeletionClaims } from './account-deletion';

/** Export and deletion of an account by its owner. */
export const account = defineFeature('account', {
  flags: ['accountDeletion'],
  defaultGuardControllers: [AccountController],
  providers: [AccountDataStore, AccountExport, DeletionClaims, AccountDeletion],
});
