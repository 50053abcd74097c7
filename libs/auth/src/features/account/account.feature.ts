import type { Feature } from '../../foundation/realm/feature';
import { AccountExport } from './account-export';
import { AccountRowsStore, Tables } from './account-rows.store';
import { AccountController } from './account.controller';
import { AccountDeletion, DeletionClaims } from './account-deletion';

/** An account's data, for its owner to take along or to have erased. */
export const account: Feature = {
  flags: ['accountDeletion'],
  defaultGuardControllers: [AccountController],
  providers: [Tables, AccountRowsStore, AccountExport, DeletionClaims, AccountDeletion],
};
