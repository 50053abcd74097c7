import { Injectable } from '@nestjs/common';
import { clientInfo } from '../http/client-info';
import type { SessionTokens } from '../http/session-tokens';
import { named } from '../http/fields';
import { ValidationFailed } from '../kernel/auth.exception';
import type { Text } from '../kernel/messages';
import { Sessions } from '../sessions/sessions';
import { UserProvider } from '../users/user-provider';
import { BadChallenge } from './bad-challenge.exception';
import { type NoAnswer, answerIn } from './challenge-answer.policy';
import { ChallengeAttempts } from './challenge-attempts';
import { LoginChallenges } from './login-challenges';
import type { TwoFactorChallengeRequest } from './two-factor-challenge.request';

/** `POST /two-factor-challenge`: from a challenge and a second factor to a session. */
@Injectable()
export class ChallengeCompletion {
  constructor(
    private readonly challenges: LoginChallenges,
    private readonly attempts: ChallengeAttempts,
    private readonly users: UserProvider,
    private readonly sessions: Sessions,
  ) {}

  /** @throws ValidationFailed, BadChallenge, AccountIsLocked, TooManyFailures, WrongCode, PasskeyRefused, UnverifiedLogin */
  async complete(body: TwoFactorChallengeRequest, request: object): Promise<SessionTokens> {
    const answer = answerIn(body);
    if ('problem' in answer) throw noAnswer(answer);
    const challenge = await this.challenges.verify(body.challenge_token);
    if (!challenge) throw new BadChallenge();
    const { user, amr } = await this.attempts.verify(challenge, answer);
    const start = { userId: this.users.idOf(user), amr: ['pwd', amr], client: clientInfo(request) };
    const tokens = await this.sessions.start(start, (stored) => this.challenges.stands(challenge, stored));
    if (!tokens) throw new BadChallenge();
    return tokens;
  }
}

function noAnswer({ problem, fields }: NoAnswer): ValidationFailed {
  const textOf = (field: string): Text =>
    problem === 'missing'
      ? { key: 'validation.required', params: { field: named(field) } }
      : { key: 'auth.one_factor_only' };
  return new ValidationFailed(Object.fromEntries(fields.map((field) => [field, [textOf(field)]])));
}
