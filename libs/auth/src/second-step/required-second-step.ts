import { Injectable } from '@nestjs/common';
import type { LoginChallenge } from '../http/login-challenge';
import { SecondStep } from '../login/second-step';
import { CodeFactor } from './code-factor';
import { LoginChallenges } from './login-challenges';

/** Challenges whoever has a second factor. */
@Injectable()
export class RequiredSecondStep extends SecondStep {
  constructor(
    private readonly codes: CodeFactor,
    private readonly challenges: LoginChallenges,
  ) {
    super();
  }

  async challengeFor(_user: object, userId: string): Promise<LoginChallenge | null> {
    const methods = await this.codes.methodsOf(userId);
    // An enabled factor of which nothing is usable any more does not let the password alone in.
    if (!methods) return null;
    return { two_factor: true, challenge_token: this.challenges.mint(userId), methods };
  }
}
