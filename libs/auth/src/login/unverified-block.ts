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

  /** Whether the user has to verify the email first. Users that know no verification pass. */
  holds(user: object): boolean {
    const { blockUnverifiedLogin } = this.realm.options.emailVerification;
    return blockUnverifiedLogin && this.users.isEmailVerified(user) === false;
  }

  /** For the moment before a session starts, whatever the user signed in with. @throws UnverifiedLogin */
  refuse(user: object): void {
    if (this.holds(user)) throw new UnverifiedLogin();
  }
}
