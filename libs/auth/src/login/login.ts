import { Injectable } from '@nestjs/common';
import { clientInfo } from '../http/client-info';
import type { SessionTokens } from '../http/session-tokens';
import { Sessions } from '../sessions/sessions';
import { UserProvider } from '../users/user-provider';
import { LoginAttempts } from './login-attempts';
import type { LoginRequest } from './login.request';

/** `POST /login`: from credentials to a session. */
@Injectable()
export class Login {
  constructor(
    private readonly attempts: LoginAttempts,
    private readonly sessions: Sessions,
    private readonly users: UserProvider,
  ) {}

  /** @throws AccountIsLocked, TooManyFailures, WrongCredentials */
  async attempt(login: LoginRequest, request: object): Promise<SessionTokens> {
    const user = await this.attempts.verify(login, request);
    return this.sessions.start({ userId: this.users.idOf(user), amr: ['pwd'], client: clientInfo(request) });
  }
}
