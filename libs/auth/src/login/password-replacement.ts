import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { answered } from '../kernel/unavailable';
import { AccountLockout } from '../lockout/account-lockout';
import { loginLock, userLock } from '../lockout/lock-key';
import { UserProvider } from '../users/user-provider';

/** Puts a new password in the place of a former one, and lifts the locks that guesses at that one have set. */
@Injectable()
export class PasswordReplacement {
  constructor(
    private readonly users: UserProvider,
    private readonly lockout: AccountLockout,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /** @param digest what the hasher made of the new password */
  async store(userId: string, digest: string): Promise<void> {
    await answered('The user store', this.config.storeTimeoutMs, this.users.savePasswordHash(userId, digest));
    // The login, too: whoever made a stranger's guesses pointless is not to stay locked out by them.
    await this.lockout.release([userLock('confirm', userId), loginLock(userId, '')]);
  }
}
