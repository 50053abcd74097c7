import { Injectable } from '@nestjs/common';
import { Unauthenticated } from '../kernel/auth.exception';
import { Sessions } from '../sessions/sessions';
import { Authenticator } from '../tokens/authenticator';
import type { Caller } from '../tokens/caller';

/**
 * Ends the sessions of an account that is to be erased, and lets the one request go on that has ended the session it
 * came with. The database decides who that is. To every other its token is dead, and it is told so.
 */
@Injectable()
export class ErasureClaims {
  /** Erasures of this process by user: the others wait for its first step, without a connection. */
  private readonly claims = new Map<string, Promise<boolean>>();

  constructor(
    private readonly sessions: Sessions,
    private readonly authenticator: Authenticator,
  ) {}

  /**
   * @param erase is told whether the caller's session was one of ours
   * @throws Unauthenticated for all but one
   */
  async one(caller: Caller, erase: (hadSession: boolean) => Promise<void>): Promise<void> {
    const first = this.claims.get(caller.userId);
    if (first) {
      await first;
      throw new Unauthenticated(true);
    }
    const claim = this.claim(caller);
    this.claims.set(caller.userId, claim);
    try {
      await erase(await claim);
    } finally {
      this.claims.delete(caller.userId);
    }
  }

  private async claim({ userId, familyId, claims }: Caller): Promise<boolean> {
    const ended = await this.sessions.endAll(userId);
    if (familyId !== null && ended.includes(familyId)) return true;
    // Another request was faster, unless the token is a co-issuer's, whose session has no row: that one still lives.
    await this.authenticator.admit({}, claims);
    if (familyId !== null) await this.sessions.revoke(familyId);
    return false;
  }
}
