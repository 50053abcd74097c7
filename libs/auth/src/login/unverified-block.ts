import { Injectable } from '@nestjs/common';
import { Realm } from '../realm/realm';
import { UserProvider } from '../users/user-provider';
import { UnverifiedLogin } from './unverified-login.exception';

/** Keeps users without a verified email from signing in, where `emailVerification.blockUnverifiedLogin` says so. */
@Injectable()
export class UnverifiedBlock {
  constructor(
    private readonly users: UserProvider,
    private readonly realm: Realm,
  ) {}

  /** For the moment before a session starts, whatever the user signed in with. @throws UnverifiedLogin */
  refuse(user: object): void {
    if (this.holds(user)) throw new UnverifiedLogin();
  }

  /** Whether the user may not sign in. Users that know no verification may. */
  holds(user: object): boolean {
    return this.realm.options.emailVerification.blockUnverifiedLogin && this.users.isEmailVerified(user) === false;
  }
}
