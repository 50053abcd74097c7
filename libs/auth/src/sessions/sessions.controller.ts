import { Controller, Delete, Get, Param } from '@nestjs/common';
import { PinnedNeeds } from '../abilities/pinned-ability.decorator';
import { Authenticated, CurrentCaller } from '../http/authenticated.decorator';
import { EndsSession } from '../http/session-end';
import { NoStore } from '../http/no-store.decorator';
import type { Caller } from '../tokens/caller';
import { type ListedSession, SessionList } from './session-list';

@Controller('sessions')
export class SessionsController {
  constructor(private readonly list: SessionList) {}

  /** The live sessions of the caller on this guard. */
  @Get()
  @NoStore()
  @Authenticated()
  @PinnedNeeds('svc.sessions')
  async own(@CurrentCaller() { userId, familyId }: Caller): Promise<{ data: ListedSession[] }> {
    return { data: await this.list.of(userId, familyId) };
  }

  /** Ends one session of the caller. */
  @Delete(':svcSession')
  @Authenticated()
  @PinnedNeeds('svc.sessions')
  @EndsSession()
  end(@CurrentCaller() { userId }: Caller, @Param('svcSession') id: string): Promise<void> {
    return this.list.end(userId, id);
  }
}
