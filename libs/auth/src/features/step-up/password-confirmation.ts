import { Injectable } from '@nestjs/common';
import { PasswordCheck } from '../../identity/password/password-check';
import type { Caller } from '../../identity/tokens/caller';
import { userLock } from '../../request/lockout/lockout.store';
import { AttemptGuard } from '../../request/lockout/attempt-guard';
import { AccountLockout } from '../../request/lockout/lockout';
import { Confirmations } from './confirmations';
import { WrongPassword } from './step-up.errors';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** Verifies the current password of an authenticated user, protected by the `confirm` lock. */
@Injectable()
export class CurrentPassword {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly passwords: PasswordCheck,
    private readonly attempts: AttemptGuard,
  ) {}

  /**
   * Verifies the password, and returns the stored hash. Releases no lock: that depends on the route.
   *
   * @param field the request field with the password, for the error body
   * @throws AccountIsLocked, WrongPassword
   */
  async verify(userId: string, password: string, field: string): Promise<string> {
    const lock = userLock('confirm', userId);
    const verified = await this.attempts.run({ lock, field }, async () => {
      const digest = await this.users.passwordHashOf(userId);
      return (await this.passwords.matches(digest, password)) ? digest : null;
    });
    if (verified === null) throw new WrongPassword(field);
    return verified;
  }
}

/** Confirms the identity of the caller with the password (`POST /confirm-password`) and issues a confirmation token. */
@Injectable()
export class PasswordConfirmation {
  constructor(
    private readonly currentPassword: CurrentPassword,
    private readonly lockout: AccountLockout,
    private readonly confirmations: Confirmations,
  ) {}

  /** @throws AccountIsLocked, WrongPassword; StoreUnavailable */
  async confirm(caller: Caller, password: string): Promise<{ confirmation_token: string }> {
    const digest = await this.currentPassword.verify(caller.userId, password, 'password');
    await this.lockout.release([userLock('confirm', caller.userId)]);
    // Bound to the hash that was checked: the token of a password that is replaced meanwhile is not valid.
    return { confirmation_token: await this.confirmations.mint(caller, digest) };
  }
}
