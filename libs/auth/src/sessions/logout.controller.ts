import { Controller, Post } from '@nestjs/common';
import { Authenticated, CurrentCaller } from '../http/authenticated.decorator';
import { EndsSession } from '../http/session-end';
import type { Caller } from '../tokens/caller';
import { Sessions } from './sessions';

@Controller('logout')
export class LogoutController {
  constructor(private readonly sessions: Sessions) {}

  /** Ends the calling session. A co-issued token without a session ends nothing. Never gated by abilities. */
  @Post()
  @Authenticated()
  @EndsSession()
  async logout(@CurrentCaller() { familyId }: Caller): Promise<void> {
    if (familyId !== null) await this.sessions.revoke(familyId);
  }
}
