import { Injectable } from '@nestjs/common';
import { clientInfo } from '../http/client-info';
import type { LoginChallenge } from '../http/login-challenge';
import type { SessionTokens } from '../http/session-tokens';
import { Sessions } from '../sessions/sessions';
import { UserProvider } from '../users/user-provider';
import { LoginAttempts } from './login-attempts';
import type { LoginRequest } from './login.request';
import { SecondStep } from './second-step';
import { UnverifiedBlock } from './unverified-block';

/** `POST /login`: from credentials to a session, or to a challenge for the second factor. */
@Injectable()
export class Login {
  constructor(
    private readonly attempts: LoginAttempts,
    private readonly sessions: Sessions,
    private readonly users: UserProvider,
    private readonly secondStep: SecondStep,
    private readonly unverified: UnverifiedBlock,
  ) {}

  /** @throws AccountIsLocked, TooManyFailures, WrongCredentials, UnverifiedLogin */
  async attempt(login: LoginRequest, request: object): Promise<SessionTokens | LoginChallenge> {
    const user = await this.attempts.verify(login, request);
    const userId = this.users.idOf(user);
    const challenge = await this.secondStep.challengeFor(user, userId);
    if (challenge) return challenge;
    this.unverified.refuse(user);
    return this.sessions.start({ userId, amr: ['pwd'], client: clientInfo(request) });
  }
}
