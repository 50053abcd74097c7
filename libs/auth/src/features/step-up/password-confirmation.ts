import { Injectable } from '@nestjs/common';
import { PasswordCheck } from '../../identity/password/password-check';
import type { Caller } from '../../identity/tokens/caller';
import { RequiredText } from '../../request/http/request-body';
import { userLock } from '../../request/lockout/lockout.store';
import { AttemptGuard } from '../../request/lockout/attempt-guard';
import { ConfirmationFactors } from './confirmation-factors';
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
   * Verifies the password, and returns the stored hash.
   *
   * @param field the request field with the password, for the error body
   * @param beside verifies what has to be right besides the password. Until it is, the attempt counts as a failure, unless a
   * store did not answer
   * @throws AccountIsLocked, WrongPassword; every error of `beside`
   */
  async verify(userId: string, password: string, field: string, beside?: () => Promise<void>): Promise<string> {
    const lock = userLock('confirm', userId);
    const verified = await this.attempts.run({ lock, field, released: () => [lock] }, async () => {
      const digest = await this.users.passwordHashOf(userId);
      if (!(await this.passwords.matches(digest, password))) return null;
      await beside?.();
      return digest;
    });
    if (verified === null) throw new WrongPassword(field);
    return verified;
  }
}

/** Body of `POST /confirm-password`, with the answer of a factor that is sent beside the password. */
export class ConfirmPasswordRequest {
  @RequiredText()
  password!: string;
}

/** Confirms the identity of the caller with the password (`POST /confirm-password`) and issues a confirmation token. */
@Injectable()
export class PasswordConfirmation {
  constructor(
    private readonly currentPassword: CurrentPassword,
    private readonly factors: ConfirmationFactors,
    private readonly confirmations: Confirmations,
  ) {}

  /**
   * With `confirm.factors: 'all'`, a user with a second factor sends a code, too. It is consumed only after the password was
   * verified. A failure of either factor stays counted until both are right.
   *
   * @throws AccountIsLocked, WrongPassword, WrongCode, TooManyFailures, ValidationFailed, StoreUnavailable; the refusal
   * of a factor that confirms alone
   */
  async confirm(caller: Caller, body: ConfirmPasswordRequest): Promise<{ confirmation_token: string }> {
    const verifySecondFactor = await this.factors.besidePassword(caller.userId, body);
    const digest = await this.currentPassword.verify(caller.userId, body.password, 'password', verifySecondFactor);
    // Bound to the hash that was checked: the token of a password that is replaced meanwhile is not valid.
    return { confirmation_token: await this.confirmations.mint(caller, digest) };
  }
}
