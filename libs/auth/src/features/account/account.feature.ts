import type { Feature } from '../../foundation/realm/feature';
import { AccountExport } from './account-export';
import { AccountRowsStore } from './account-rows.store';
import { AccountController } from './account.controller';
import { Erasure } from './account-deletion';
import { ErasureClaims } from './account-deletion';
import { Tables } from './account-rows.store';

/** An account's data, for its owner to take along or to have erased. */
export const account: Feature = {
  flags: ['accountDeletion'],
  defaultGuardControllers: [AccountController],
  providers: [Tables, AccountRowsStore, AccountExport, ErasureClaims, Erasure],
};
