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

  /**
   * For the moment before a session starts, whatever the user signed in with. Users that know no verification
   * pass. @throws UnverifiedLogin
   */
  refuse(user: object): void {
    const { blockUnverifiedLogin } = this.realm.options.emailVerification;
    if (blockUnverifiedLogin && this.users.isEmailVerified(user) === false) throw new UnverifiedLogin();
  }
}
