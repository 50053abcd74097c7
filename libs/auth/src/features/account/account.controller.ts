import { Controller } from '@nestjs/common';
import {
  INTEGER,
  type Schema,
  TEXT,
  TIME,
  anyOf,
  objectOf,
  namedSchema,
  orNull,
  record,
} from '../../foundation/platform/schema';
import type { Feature } from '../../foundation/realm/feature';
import type { Caller } from '../../identity/tokens/caller';
import { CurrentCaller } from '../../request/gates/authenticated';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Route } from '../../request/routes/route';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { RequireConfirmation } from '../step-up/require-confirmation';
import { AccountExport, type ExportedAccount } from './account-export';
import { AccountDeletion, DeletionBusy } from './account-deletion';

declare module '../../foundation/realm/feature' {
  interface Feature {
    /** The schemas of what the feature adds to the export of an account, by field. */
    readonly exported?: Readonly<Record<string, Schema>>;
  }
}

/** A number for users with numeric ids. */
const USER_ID = anyOf([TEXT, INTEGER]);

const exportedAccount = (manifests: readonly Feature[]): Schema => {
  const own = {
    generated_at: TIME,
    account: record<ExportedAccount['account']>({ id: USER_ID, identifier: orNull(TEXT) }),
  };
  const all: Record<string, Schema> = Object.assign(own, ...manifests.map(({ exported }) => exported));
  return namedSchema(
    'AuthAccount',
    objectOf(all, () => true),
  );
};

@Controller('account')
export class AccountController {
  constructor(
    private readonly account: AccountExport,
    private readonly accountDeletion: AccountDeletion,
  ) {}

  @Route('GET', 'export', 'account_export', {
    summary: 'What is known of the account',
    note: 'Returns the data that the library has of the account.',
    gates: [RequireIfPinned('svc.account.delete', true), RequireConfirmation()],
    limiter: 'svc-confirm',
    answer: (_, manifests) => exportedAccount(manifests),
  })
  export(@CurrentCaller() caller: Caller): Promise<ExportedAccount> {
    return this.account.export(caller);
  }

  @Route('DELETE', '', 'account_delete', {
    summary: 'Deletes the account',
    note: 'Succeeds once. Afterwards every request of the account is answered 401.',
    gates: [RequireIfPinned('svc.account.delete', true), RequireConfirmation()],
    unlimited: 'it succeeds once, and each process runs two deletions at a time',
    endsSession: true,
    refusals: [DeletionBusy],
    quiet: true,
  })
  delete(@CurrentCaller() caller: Caller): Promise<void> {
    return this.accountDeletion.delete(caller);
  }
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** Export and deletion of the account of a caller. */
    readonly account: AccountFlow;
  }
}

/**
 * Export and deletion of an account by its user, for code of the host. Needs `features.accountDeletion`.
 *
 * @publicApi
 */
export class AccountFlow extends Flow {
  /** As `GET /account/export`. @throws Unauthenticated, InsufficientScope, ConfirmationRequired, TooManyRequests */
  export(source: CallSource): Promise<ExportedAccount> {
    return this.call(AccountController, 'export', source);
  }

  /**
   * As `DELETE /account`.
   *
   * @throws Unauthenticated, InsufficientScope, ConfirmationRequired, DeletionBusy, StoreUnavailable; every error of a
   * listener of `AccountDeleting` or of `hooks.deleteUser`: the account is not deleted then
   */
  delete(source: CallSource): Promise<void> {
    return this.call(AccountController, 'delete', source);
  }
}
