import { Injectable } from '@nestjs/common';
import { AuthException } from '../../foundation/platform/errors';
import { UserProvider } from '../../foundation/ports/user-provider';
import { Realm } from '../../foundation/realm/realm';

/** The credentials are right, but the account's email is not verified and `blockUnverifiedLogin` is on: 403. */
export class UnverifiedLogin extends AuthException {
  constructor() {
    super('unverified_login', { status: 403, text: { key: 'auth.unverified_login' } });
  }

  /** Whoever gets here guessed nothing. */
  override get isInconclusive(): boolean {
    return true;
  }
}

/** Keeps users without a verified email from signing in, where `emailVerification.blockUnverifiedLogin` says so. */
@Injectable()
export class UnverifiedBlock {
  constructor(
    private readonly users: UserProvider,
    private readonly realm: Realm,
  ) {}

  /** Whether the user has to verify the email first. Users that know no verification pass. */
  isBlocked(user: object): boolean {
    const { blockUnverifiedLogin } = this.realm.options.emailVerification;
    return blockUnverifiedLogin && this.users.isEmailVerified(user) === false;
  }

  /** For the moment before a session starts, whatever the user signed in with. @throws UnverifiedLogin */
  refuse(user: object): void {
    if (this.isBlocked(user)) throw new UnverifiedLogin();
  }
}
