import { Controller, Delete } from '@nestjs/common';
import { PinnedNeeds } from '../abilities/pinned-ability.decorator';
import { Authenticated, CurrentCaller } from '../http/authenticated.decorator';
import { EndsSession } from '../http/session-end';
import type { Caller } from '../tokens/caller';
import { Sessions } from './sessions';

@Controller('sessions')
export class RevokeAllController {
  constructor(private readonly sessions: Sessions) {}

  /** Ends every session of the caller on this guard, the calling one included. */
  @Delete()
  @Authenticated()
  @PinnedNeeds('svc.sessions')
  @EndsSession()
  revokeAll(@CurrentCaller() { userId }: Caller): Promise<void> {
    return this.sessions.revokeAll(userId);
  }
}
