import { type CallSource, Flow } from '../../request/http/server-call';
import { Controller, Delete, Get, Injectable } from '@nestjs/common';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { RequireConfirmation } from '../step-up/require-confirmation';
import { Authenticated, CurrentCaller } from '../../request/gates/authenticated';
import { NoStore } from '../../request/http/route.interceptor';
import { EndsSession } from '../../request/http/refresh-cookie';
import { Throttled } from '../../request/throttling/limiters';
import { Unlimited } from '../../foundation/realm/feature';
import type { Caller } from '../../identity/tokens/caller';
import { AccountExport, type ExportedAccount } from './account-export';
import { AccountDeletion } from './account-deletion';

@Controller('account')
@Authenticated()
export class AccountController {
  constructor(
    private readonly account: AccountExport,
    private readonly accountDeletion: AccountDeletion,
  ) {}

  @Get('export')
  @NoStore()
  @RequireIfPinned('svc.account.delete', true)
  @Throttled('svc-confirm')
  @RequireConfirmation()
  export(@CurrentCaller() caller: Caller): Promise<ExportedAccount> {
    return this.account.export(caller);
  }

  @Delete()
  @NoStore()
  @RequireIfPinned('svc.account.delete', true)
  @Unlimited('it succeeds once, and each process runs two deletions at a time')
  @RequireConfirmation()
  @EndsSession()
  delete(@CurrentCaller() caller: Caller): Promise<void> {
    return this.accountDeletion.delete(caller);
  }
}

/**
 * Export and deletion of an account by its user, for code of the host. Needs `features.accountDeletion`.
 *
 * @publicApi
 */
@Injectable()
export class AccountFlow extends Flow {
  protected override readonly feature = 'accountDeletion';

  /** As `GET /account/export`. @throws Unauthenticated, InsufficientScope, ConfirmationRequired, TooManyRequests */
  async export(source: CallSource): Promise<ExportedAccount> {
    const account = this.get(AccountExport);
    return this.callAs(AccountController, 'export', source, (caller) => account.export(caller));
  }

  /**
   * As `DELETE /account`.
   *
   * @throws Unauthenticated, InsufficientScope, ConfirmationRequired, DeletionBusy, StoreUnavailable; every error of a
   * listener of `AccountDeleting` or of `hooks.deleteUser`: the account is not deleted then
   */
  async delete(source: CallSource): Promise<void> {
    const deletion = this.get(AccountDeletion);
    return this.callAs(AccountController, 'delete', source, (caller) => deletion.delete(caller));
  }
}
