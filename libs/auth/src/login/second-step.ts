import { Injectable } from '@nestjs/common';
import type { LoginChallenge } from '../http/login-challenge';

/** What may stand between a right password and a session. */
export abstract class SecondStep {
  /** The challenge this user has to complete, or null where the password is enough. */
  abstract challengeFor(user: object, userId: string): Promise<LoginChallenge | null>;
}

/** Stands in where no second factor is switched on. */
@Injectable()
export class NoSecondStep extends SecondStep {
  async challengeFor(): Promise<null> {
    return null;
  }
}
