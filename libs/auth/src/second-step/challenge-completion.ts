import { Injectable } from '@nestjs/common';
import { clientInfo } from '../http/client-info';
import type { SessionTokens } from '../http/session-tokens';
import { ValidationFailed } from '../kernel/auth.exception';
import { UnverifiedBlock } from '../login/unverified-block';
import { Sessions } from '../sessions/sessions';
import { UserProvider } from '../users/user-provider';
import { BadChallenge } from './bad-challenge.exception';
import { ChallengeAttempts } from './challenge-attempts';
import { LoginChallenges } from './login-challenges';
import type { TwoFactorChallengeRequest } from './two-factor-challenge.request';

const ONLY_ONE = [{ key: 'auth.one_code_only' }] as const;

/** `POST /two-factor-challenge`: from a challenge and a second factor to a session. */
@Injectable()
export class ChallengeCompletion {
  constructor(
    private readonly challenges: LoginChallenges,
    private readonly attempts: ChallengeAttempts,
    private readonly users: UserProvider,
    private readonly unverified: UnverifiedBlock,
    private readonly sessions: Sessions,
  ) {}

  /** @throws ValidationFailed, BadChallenge, AccountIsLocked, TooManyFailures, WrongCode, UnverifiedLogin */
  async complete(answer: TwoFactorChallengeRequest, request: object): Promise<SessionTokens> {
    // Two codes in one attempt would be two guesses for the price of one.
    if (answer.code !== null && answer.recovery_code !== null) {
      throw new ValidationFailed({ code: ONLY_ONE, recovery_code: ONLY_ONE });
    }
    const challenge = await this.challenges.verify(answer.challenge_token);
    if (!challenge) throw new BadChallenge();
    const { user, amr } = await this.attempts.verify(challenge, answer);
    this.unverified.refuse(user);
    return this.sessions.start({ userId: this.users.idOf(user), amr: ['pwd', amr], client: clientInfo(request) });
  }
}
