import { Injectable } from '@nestjs/common';
import { SourceGuards } from '../../foundation/realm/realm';
import { Sessions } from './sessions';
import type { SessionEndReason } from './sessions.events';

/**
 * Ends the sessions of a user at every guard with the user's source: after a change that ends the access of another person.
 * {@link Sessions} ends those of one guard, at the request of the user.
 */
@Injectable()
export class UserSessions {
  constructor(
    private readonly guards: SourceGuards,
    private readonly sessions: Sessions,
  ) {}

  /** @throws StoreUnavailable; the sessions that were ended before the error stay ended, so the call can be repeated */
  async endAll(userId: string, reason: SessionEndReason): Promise<void> {
    for (const sessions of this.guards.all(Sessions)) await sessions.endAll(userId, reason);
  }

  /** Ends every session except one of this guard; see `Sessions.endOthers`. @throws StoreUnavailable as {@link endAll} does */
  async endOthers(userId: string, familyId: string | null, reason: SessionEndReason = 'others'): Promise<void> {
    await this.sessions.endOthers(userId, familyId, reason);
    for (const sessions of this.guards.others(Sessions)) await sessions.endAll(userId, reason);
  }
}
