import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { isUuid } from '../../foundation/platform/ids';
import { withTimeout } from '../../foundation/platform/deadline';
import { EndedSessions } from '../denylist/ended-sessions';
import { TypeormUserProvider } from '../users/typeorm-user-provider';
import { UserProvider } from '../../foundation/ports/user-provider';
import { TimedUserProvider } from '../users/timed-user-provider';
import { Denylist } from '../denylist/denylist';

/** What PostgreSQL knows of a caller. */
export interface StoredCaller {
  readonly user: object | null;
  /** Whether the session was ended; null where that is not known here. */
  readonly ended: boolean | null;
}

/** Reads the user of a guarded request, and whether its session was ended, on the primary. */
@Injectable()
export class CallerReader {
  private readonly joined: TypeormUserProvider | undefined;

  constructor(
    private readonly users: TimedUserProvider,
    provider: UserProvider,
    private readonly endedSessions: EndedSessions,
    private readonly denylist: Denylist,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {
    // A service without routes may have users and no table of sessions: it asks for each apart.
    const isJoined = config.routes && provider instanceof TypeormUserProvider && provider.readsSessions;
    this.joined = isJoined ? provider : undefined;
  }

  /** @param familyId in its one spelling; null for a token that names no session */
  async read(userId: string, familyId: string | null): Promise<StoredCaller> {
    // With `features.denylist` off, access tokens live until they expire.
    if (!this.denylist.lifetime) return { user: await this.users.findById(userId), ended: false };
    if (this.joined) {
      const session = familyId !== null && isUuid(familyId) ? familyId : null;
      const reading = this.joined.findWithSession(userId, session);
      const found = await withTimeout('The user store', this.config.storeTimeoutMs, reading);
      return found ?? { user: null, ended: false };
    }
    const [user, ended] = await Promise.all([this.users.findById(userId), this.endedSessions.has(familyId)]);
    return { user, ended };
  }
}
