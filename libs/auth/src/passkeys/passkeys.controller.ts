import { Controller, Delete, Get, HttpCode, Param, Patch } from '@nestjs/common';
import { PinnedNeeds } from '../abilities/pinned-ability.decorator';
import { RequireConfirmation } from '../confirmation/require-confirmation.decorator';
import { Authenticated, CurrentCaller } from '../http/authenticated.decorator';
import { RequestBody } from '../http/body.pipe';
import { NoStore } from '../http/no-store.decorator';
import type { Caller } from '../tokens/caller';
import { OwnPasskeys } from './own-passkeys';
import { RenameRequest } from './rename.request';

@Controller('passkeys')
export class PasskeysController {
  constructor(private readonly passkeys: OwnPasskeys) {}

  @Get()
  @NoStore()
  @Authenticated()
  @PinnedNeeds('svc.account')
  list(@CurrentCaller() { userId }: Caller) {
    return this.passkeys.of(userId);
  }

  @Patch(':svcPasskey')
  @HttpCode(204)
  @Authenticated()
  @RequireConfirmation()
  rename(
    @CurrentCaller() { userId }: Caller,
    @Param('svcPasskey') id: string,
    @RequestBody(RenameRequest) { name }: RenameRequest,
  ): Promise<void> {
    return this.passkeys.rename(userId, id, name);
  }

  @Delete(':svcPasskey')
  @HttpCode(204)
  @Authenticated()
  @RequireConfirmation()
  remove(@CurrentCaller() { userId }: Caller, @Param('svcPasskey') id: string): Promise<void> {
    return this.passkeys.remove(userId, id);
  }
}
