import { Controller, Delete, HttpCode } from '@nestjs/common';
import { PinnedNeeds } from '../abilities/pinned-ability.decorator';
import { Authenticated, CurrentCaller } from '../http/authenticated.decorator';
import type { Caller } from '../tokens/caller';
import { Sessions } from './sessions';

@Controller('sessions/others')
export class RevokeOthersController {
  constructor(private readonly sessions: Sessions) {}

  /** Ends every other session of the caller. The calling one stays, and so does its cookie. */
  @Delete()
  @HttpCode(204)
  @Authenticated()
  @PinnedNeeds('svc.sessions')
  async revokeOthers(@CurrentCaller() { userId, familyId }: Caller): Promise<void> {
    if (familyId !== null) await this.sessions.revokeOthers(userId, familyId);
  }
}
