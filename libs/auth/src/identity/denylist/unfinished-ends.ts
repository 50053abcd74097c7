import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { isUuid } from '../../foundation/platform/database';
import { Realm } from '../../foundation/realm/realm';
import { Denylist } from './denylist';
import { EndedSessions } from './ended-sessions';

/**
 * Finishes the ends of sessions that were denied, but not committed.
 *
 * A denial is written before the commit of the end. If the commit does not happen (connection cut, timeout, killed process),
 * the session is denied and its row is live. A denial expires, and the session must not come back: so the next request that
 * presents a token of such a session writes the end before it is answered, the process repeats it in the background, and
 * `DenylistMonitor` does the same for all denials from time to time.
 */
@Injectable()
export class UnfinishedEnds {
  constructor(
    private readonly denylist: Denylist,
    private readonly ended: EndedSessions,
    private readonly realm: Realm,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /**
   * Ends the live sessions of a user that are denied. The request that has denied them may have been one for all sessions of
   * the user, and its client cannot repeat it with a token that is denied.
   *
   * @param familyId a session that may be denied
   * @throws StoreUnavailable also without a primary that can be written to
   */
  async finish(userId: string, familyId: string | null): Promise<void> {
    // A service that only verifies tokens writes no sessions, and the session of a co-issuer has no row.
    if (familyId === null || !this.config.routes || !isUuid(familyId)) return;
    // The token may be denied by its own id, which says nothing about its session.
    if (!(await this.denylist.deniesFamily(familyId))) return;
    await this.finishDenied(await this.ended.liveOf(this.realm.guard, userId, familyId));
  }

  /** Ends those of the sessions that are denied. @throws StoreUnavailable */
  async finishDenied(familyIds: readonly string[]): Promise<void> {
    const isDenied = await Promise.all(familyIds.map((id) => this.denylist.deniesFamily(id)));
    const denied = familyIds.filter((_, i) => isDenied[i]);
    if (!denied.length) return;
    await this.ended.end(denied);
    await this.denylist.keep(denied);
  }
}
