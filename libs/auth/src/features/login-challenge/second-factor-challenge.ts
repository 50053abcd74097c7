import { Injectable } from '@nestjs/common';
import type { LoginChallenge } from '../../request/http/token-response';
import { LoginChallengeIssuer } from '../login/login-challenge-issuer';
import { CodeFactor, PasskeyFactor } from './second-factors';
import { LoginChallenges } from './login-challenges';

/** Challenges whoever enabled a second factor, and whoever has a passkey where `passkeys.required` says so. */
@Injectable()
export class SecondFactorChallengeIssuer extends LoginChallengeIssuer {
  constructor(
    private readonly codes: CodeFactor,
    private readonly passkeys: PasskeyFactor,
    private readonly challenges: LoginChallenges,
  ) {
    super();
  }

  async challengeFor(user: object, userId: string, digest: string | null): Promise<LoginChallenge | null> {
    const codes = await this.codes.methodsOf(userId);
    // An enabled factor of which nothing is usable any more does not let the password alone in.
    if (!codes && !(await this.passkeys.isRequiredOf(user))) return null;
    const hasPasskey = await this.passkeys.isHeldBy(userId);
    if (!codes && !hasPasskey) return null;
    const methods = [...(codes ?? []), ...(hasPasskey ? ['passkey' as const] : [])];
    return { two_factor: true, challenge_token: await this.challenges.mint(userId, digest), methods };
  }
}
