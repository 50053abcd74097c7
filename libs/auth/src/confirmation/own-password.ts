import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { answered } from '../kernel/unavailable';
import { AccountLockout } from '../lockout/account-lockout';
import { userLock } from '../lockout/lock-key';
import { PasswordCheck } from '../password/password-check';
import { UserProvider } from '../users/user-provider';
import { WrongPassword } from './wrong-password.exception';

/** Has a signed-in user prove the own password, within the `confirm` lock. */
@Injectable()
export class OwnPassword {
  constructor(
    private readonly users: UserProvider,
    private readonly passwords: PasswordCheck,
    private readonly lockout: AccountLockout,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /**
   * The hash that the password gives, for the right one. Releases no lock: what a success is worth depends on the
   * route.
   *
   * @param field the request field that carries the password, under which a refusal is told
   * @throws AccountIsLocked, WrongPassword
   */
  async prove(userId: string, password: string, field: string): Promise<string> {
    const lock = userLock('confirm', userId);
    await this.lockout.refuseLocked(lock, field);
    const proved = await this.lockout.attempt(lock, field, async () => {
      const digest = await answered('The user store', this.config.storeTimeoutMs, this.users.passwordHashOf(userId));
      return (await this.passwords.matches(digest, password)) ? digest : null;
    });
    if (proved === null) throw new WrongPassword(field);
    return proved;
  }
}
