import { Controller } from '@nestjs/common';
import { http, type identity, type manifest, schema } from '../../kit';
import { AccountExport, type ExportedAccount } from './account-data';
import { AccountDeletion, DeletionBusy } from './account-deletion';

declare module '../../foundation/realm/feature' {
  interface Feature {
    /** The schemas of what the feature adds to the export of an account, by field. */
    readonly exported?: Readonly<Record<string, schema.Schema>>;
    /** The same of fields that are left out while the feature is off and has no rows of the user. */
    readonly exportedIfUsed?: Readonly<Record<string, schema.Schema>>;
  }
}

/** A number for users with numeric ids. */
const USER_ID = schema.anyOf([schema.TEXT, schema.INTEGER]);

const exportedAccount = (manifests: readonly manifest.Feature[]): schema.Schema => {
  const own = {
    generated_at: schema.TIME,
    account: schema.record<ExportedAccount['account']>({ id: USER_ID, identifier: schema.orNull(schema.TEXT) }),
  };
  const optional: Record<string, schema.Schema> = Object.assign({}, ...manifests.map((one) => one.exportedIfUsed));
  const all: Record<string, schema.Schema> = Object.assign(own, ...manifests.map(({ exported }) => exported), optional);
  return schema.namedSchema(
    'AuthAccount',
    schema.objectOf(all, (field) => !Object.hasOwn(optional, field)),
  );
};

@Controller('account')
export class AccountController {
  constructor(
    private readonly account: AccountExport,
    private readonly accountDeletion: AccountDeletion,
  ) {}

  @http.Route('GET', 'export', 'account_export', {
    summary: 'What is known of the account',
    note: 'Returns the data that the library has of the account.',
    gates: [http.RequireIfPinned('svc.account.delete', true), http.RequireConfirmation()],
    limiter: 'svc-confirm',
    answer: (_, manifests) => exportedAccount(manifests),
  })
  export(@http.CurrentCaller() caller: identity.Caller): Promise<ExportedAccount> {
    return this.account.export(caller);
  }

  @http.Route('DELETE', '', 'account_delete', {
    summary: 'Deletes the account',
    note: 'Succeeds once. Afterwards every request of the account is answered 401.',
    gates: [http.RequireIfPinned('svc.account.delete', true), http.RequireConfirmation()],
    unlimited: 'it succeeds once, and each process runs two deletions at a time',
    endsSession: true,
    refusals: [DeletionBusy],
    quiet: true,
  })
  delete(@http.CurrentCaller() caller: identity.Caller): Promise<void> {
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
export class AccountFlow extends http.Flow {
  /** As `GET /account/export`. @throws Unauthenticated, InsufficientScope, ConfirmationRequired, TooManyRequests */
  export(source: http.CallSource): Promise<ExportedAccount> {
    return this.call(AccountController, 'export', source);
  }

  /**
   * As `DELETE /account`.
   *
   * @throws Unauthenticated, InsufficientScope, ConfirmationRequired, DeletionBusy, StoreUnavailable; every error of a
   * listener of `AccountDeleting` or of `hooks.deleteUser`: the account is not deleted then
   */
  delete(source: http.CallSource): Promise<void> {
    return this.call(AccountController, 'delete', source);
  }
}
