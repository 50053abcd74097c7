import { Injectable } from '@nestjs/common';
import { Unauthenticated } from '../kernel/auth.exception';
import { Sessions } from '../sessions/sessions';
import type { Caller } from '../tokens/caller';

/**
 * Ends the sessions of an account that is to be erased, and lets the one request go on that has ended the session it
 * came with. The database decides who that is. To every other its token is dead, and it is told so.
 */
@Injectable()
export class ErasureClaims {
  /** Erasures of this process by user: the others wait for its first step, without a connection. */
  private readonly claims = new Map<string, Promise<string | null>>();

  constructor(private readonly sessions: Sessions) {}

  /**
   * @param erase is told the caller's session; null where it has no row here, as a co-issuer's
   * @throws Unauthenticated for all but one
   */
  async one(caller: Caller, erase: (session: string | null) => Promise<void>): Promise<void> {
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

  private async claim({ userId, familyId }: Caller): Promise<string | null> {
    const ended = await this.sessions.endAll(userId, 'erased', familyId);
    // Another request was faster, unless the token names no session.
    if (ended === null && familyId !== null) throw new Unauthenticated(true);
    return ended === 'own' ? familyId : null;
  }
}
