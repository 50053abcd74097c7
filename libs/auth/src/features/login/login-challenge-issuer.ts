import { Injectable } from '@nestjs/common';
import type { LoginChallenge } from '../../request/http/token-response';

/** What may stand between a right password and a session. */
export abstract class LoginChallengeIssuer {
  /**
   * The challenge this user has to complete, or null where the password is enough.
   *
   * @param digest the hash that the password was right for: once it is replaced, the challenge is none any more
   */
  abstract challengeFor(user: object, userId: string, digest: string | null): Promise<LoginChallenge | null>;
}

/** Stands in where no second factor is switched on. */
@Injectable()
export class NoLoginChallengeIssuer extends LoginChallengeIssuer {
  async challengeFor(): Promise<null> {
    return null;
  }
}
