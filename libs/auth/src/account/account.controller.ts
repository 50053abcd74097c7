import { Controller, Delete, Get } from '@nestjs/common';
import { PinnedNeeds } from '../abilities/pinned-ability.decorator';
import { RequireConfirmation } from '../confirmation/require-confirmation.decorator';
import { Authenticated, CurrentCaller } from '../http/authenticated.decorator';
import { NoStore } from '../http/no-store.decorator';
import { EndsSession } from '../http/session-end';
import { Throttled } from '../throttling/throttled.decorator';
import type { Caller } from '../tokens/caller';
import { AccountExport, type ExportedAccount } from './account-export';
import { Erasure } from './erasure';

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
