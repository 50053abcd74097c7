import { Injectable } from '@nestjs/common';
import { clientInfo } from '../http/client-info';
import type { SessionTokens } from '../http/session-tokens';
import { Sessions } from '../sessions/sessions';
import { UserProvider } from '../users/user-provider';
import { LoginAttempts } from './login-attempts';
import type { LoginRequest } from './login.request';
import { UnverifiedBlock } from './unverified-block';

/** `POST /login`: from credentials to a session. */
@Injectable()
export class Login {
  constructor(
    private readonly attempts: LoginAttempts,
    private readonly sessions: Sessions,
    private readonly users: UserProvider,
    private readonly unverified: UnverifiedBlock,
  ) {}

  /** @throws AccountIsLocked, TooManyFailures, WrongCredentials, UnverifiedLogin */
  async attempt(login: LoginRequest, request: object): Promise<SessionTokens> {
    const user = await this.attempts.verify(login, request);
    this.unverified.refuse(user);
    return this.sessions.start({ userId: this.users.idOf(user), amr: ['pwd'], client: clientInfo(request) });
  }
}
