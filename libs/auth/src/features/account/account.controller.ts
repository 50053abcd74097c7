import { Controller, Delete, Get } from '@nestjs/common';
import { PinnedNeeds } from '../../request/abilities/pinned-ability.gate';
import { RequireConfirmation } from '../step-up/require-confirmation';
import { Authenticated, CurrentCaller } from '../../request/gates/authenticated';
import { NoStore } from '../../request/http/token-response';
import { EndsSession } from '../../request/http/refresh-cookie';
import { Throttled } from '../../request/throttling/throttled';
import type { Caller } from '../../identity/tokens/caller';
import { AccountExport, type ExportedAccount } from './account-export';
import { Erasure } from './account-deletion';

@Controller('account')
@Authenticated()
export class AccountController {
  constructor(
    private readonly account: AccountExport,
    private readonly erasure: Erasure,
  ) {}

  @Get('export')
  @NoStore()
  @PinnedNeeds('svc.account.delete', true)
  @Throttled('svc-confirm')
  @RequireConfirmation()
  export(@CurrentCaller() caller: Caller): Promise<ExportedAccount> {
    return this.account.of(caller);
  }

  @Delete()
  @NoStore()
  @PinnedNeeds('svc.account.delete', true)
  @RequireConfirmation()
  @EndsSession()
  delete(@CurrentCaller() caller: Caller): Promise<void> {
    return this.erasure.erase(caller);
  }
}
