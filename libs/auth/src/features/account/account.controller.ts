import { Controller, Delete, Get } from '@nestjs/common';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { RequireConfirmation } from '../step-up/require-confirmation';
import { Authenticated, CurrentCaller } from '../../request/gates/authenticated';
import { NoStore } from '../../request/http/route.interceptor';
import { EndsSession } from '../../request/http/refresh-cookie';
import { Throttled } from '../../request/throttling/limiters';
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
  @RequireConfirmation()
  @EndsSession()
  delete(@CurrentCaller() caller: Caller): Promise<void> {
    return this.accountDeletion.delete(caller);
  }
}
