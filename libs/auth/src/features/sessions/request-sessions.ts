import { Injectable } from '@nestjs/common';
import { Unauthenticated } from '../../foundation/platform/errors';
import { type Credentialed, Authenticator, bearerOf } from '../../identity/tokens/authenticator';
import { callerOf } from '../../identity/tokens/caller';
import { Realm } from '../../foundation/realm/realm';
import { RefreshCookie } from '../../request/http/cookies';
import { PinnedSessions } from './pinned-ability.gate';
import { RefreshRotation } from './refresh-rotation';

/** Finds the session that a request to a public route carries, without a demand for one. */
@Injectable()
export class RequestSessions {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly pinnedSessions: PinnedSessions,
    private readonly rotation: RefreshRotation,
    private readonly cookie: RefreshCookie,
    private readonly realm: Realm,
  ) {}

  /**
   * The id of the user whose live session the request carries, in its access token or in the refresh cookie. Null for none, and
   * for a session with a pinned list of abilities, which does not act as the user. Uses no refresh token up.
   *
   * @throws StoreUnavailable
   */
  async ownerOf(request: Credentialed): Promise<string | null> {
    return (await this.ownerOfToken(request)) ?? (await this.ownerOfCookie(request));
  }

  private async ownerOfToken(request: Credentialed): Promise<string | null> {
    if (!callerOf(request, this.realm.guard) && !bearerOf(request)) return null;
    try {
      const caller = await this.authenticator.authenticate(request);
      return (await this.pinnedSessions.includes(caller)) ? null : caller.userId;
    } catch (error) {
      if (error instanceof Unauthenticated) return null;
      throw error;
    }
  }

  private async ownerOfCookie({ headers }: Credentialed): Promise<string | null> {
    const { cookieMode, refreshTokenFrom } = this.realm.options;
    const isRead = cookieMode || refreshTokenFrom === 'both';
    return isRead ? this.rotation.ownerOf(this.cookie.read(headers?.cookie)) : null;
  }
}
