import { Injectable } from '@nestjs/common';
import { clientInfo } from '../http/client-info';
import type { LoginChallenge } from '../http/login-challenge';
import type { SessionTokens } from '../http/session-tokens';
import { Realm } from '../realm/realm';
import { Sessions } from '../sessions/sessions';
import { UserProvider } from '../users/user-provider';
import { LoginAttempts } from './login-attempts';
import type { LoginRequest } from './login.request';
import { SecondStep } from './second-step';
import { StandingPassword } from './standing-password';
import { UnverifiedBlock } from './unverified-block';
import { WrongCredentials } from './wrong-credentials.exception';

/** `POST /login`: from credentials to a session, or to a challenge for the second factor. */
@Injectable()
export class Login {
  constructor(
    private readonly attempts: LoginAttempts,
    private readonly sessions: Sessions,
    private readonly users: UserProvider,
    private readonly secondStep: SecondStep,
    private readonly unverified: UnverifiedBlock,
    private readonly standing: StandingPassword,
    private readonly realm: Realm,
  ) {}

  /** @throws AccountIsLocked, TooManyFailures, WrongCredentials, also for a password replaced meanwhile; UnverifiedLogin */
  async attempt(login: LoginRequest, request: object): Promise<SessionTokens | LoginChallenge> {
    const { user, proved } = await this.attempts.verify(login, request);
    const userId = this.users.idOf(user);
    const challenge = await this.secondStep.challengeFor(user, userId, proved.digest);
    if (challenge) return challenge;
    this.unverified.refuse(user);
    const start = { userId, amr: ['pwd'], client: clientInfo(request) };
    const tokens = await this.sessions.start(start, (stored) => this.standing.holds(proved, stored));
    if (!tokens) throw new WrongCredentials(this.realm.options.username);
    return tokens;
  }
}
