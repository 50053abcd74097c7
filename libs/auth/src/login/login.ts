import { Injectable } from '@nestjs/common';
import { clientInfo } from '../http/client-info';
import type { SessionTokens } from '../http/session-tokens';
import { Realm } from '../realm/realm';
import { Sessions } from '../sessions/sessions';
import { UserProvider } from '../users/user-provider';
import { Credentials } from './credentials';
import type { LoginRequest } from './login.request';
import { WrongCredentials } from './wrong-credentials.exception';

/** `POST /login`: from credentials to a session. */
@Injectable()
export class Login {
  constructor(
    private readonly credentials: Credentials,
    private readonly sessions: Sessions,
    private readonly users: UserProvider,
    private readonly realm: Realm,
  ) {}

  /** @throws WrongCredentials */
  async attempt(login: LoginRequest, request: object): Promise<SessionTokens> {
    const user = await this.authenticate(login, request);
    if (!user) throw new WrongCredentials(this.realm.options.username);
    return this.sessions.start({ userId: this.users.idOf(user), amr: ['pwd'], client: clientInfo(request) });
  }

  private async authenticate(login: LoginRequest, request: object): Promise<object | null> {
    const { authenticate } = this.realm.options.hooks;
    return authenticate ? authenticate(request, { guard: this.realm.guard }) : this.credentials.check(login);
  }
}
