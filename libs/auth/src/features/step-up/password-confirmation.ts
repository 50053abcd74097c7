import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { withTimeout } from '../../foundation/platform/deadline';
import { UserProvider } from '../../foundation/ports/user-provider';
import { PasswordCheck } from '../../identity/password/password-check';
import type { Caller } from '../../identity/tokens/caller';
import { userLock } from '../../request/lockout/lock-key';
import { AccountLockout } from '../../request/lockout/lockout';
import { Confirmations } from './confirmations';
import { WrongPassword } from './step-up.errors';

/** Has a signed-in user prove the own password, within the `confirm` lock. */
@Injectable()
export class CurrentPassword {
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
  async verify(userId: string, password: string, field: string): Promise<string> {
    const lock = userLock('confirm', userId);
    await this.lockout.refuseLocked(lock, field);
    const proved = await this.lockout.attempt(lock, field, async () => {
      const digest = await withTimeout('The user store', this.config.storeTimeoutMs, this.users.passwordHashOf(userId));
      return (await this.passwords.matches(digest, password)) ? digest : null;
    });
    if (proved === null) throw new WrongPassword(field);
    return proved;
  }
}

/** `POST /confirm-password`: from the own password to a proof. */
@Injectable()
export class PasswordConfirmation {
  constructor(
    private readonly currentPassword: CurrentPassword,
    private readonly lockout: AccountLockout,
    private readonly confirmations: Confirmations,
  ) {}

  /** @throws AccountIsLocked, WrongPassword */
  async confirm(caller: Caller, password: string): Promise<{ confirmation_token: string }> {
    await this.currentPassword.verify(caller.userId, password, 'password');
    await this.lockout.release([userLock('confirm', caller.userId)]);
    return { confirmation_token: this.confirmations.mint(caller) };
  }
}
