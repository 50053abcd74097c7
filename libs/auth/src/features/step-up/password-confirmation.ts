import { Injectable } from '@nestjs/common';
import { PasswordCheck } from '../../identity/password/password-check';
import { RequiredText } from '../../request/http/request-body';
import { userLock } from '../../request/lockout/lockout.store';
import { AttemptGuard } from '../../request/lockout/attempt-guard';
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
