import { Injectable } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { ValidationFailed } from '../../foundation/platform/errors';
import { UserProvider } from '../../foundation/ports/user-provider';
import { PasswordHasher } from '../../identity/password/password-hasher';
import { PasswordRules } from '../../identity/password/password-rules';
import type { Caller } from '../../identity/tokens/caller';
import { NewPasswordRequest, RequiredText } from '../../request/http/request-body';
import { PasswordReplacement } from '../login/password-replacement';
import { Sessions } from '../sessions/sessions';
import { CurrentPassword } from '../step-up/password-confirmation';
import { WrongPassword } from '../step-up/step-up.errors';

/**
 * A user changed the own password; all other sessions have ended. Worth a mail to the account's owner.
 *
 * @publicApi
 */
export class PasswordChanged {
  constructor(readonly user: object) {}
}

const FIELD = 'current_password';

/** A login that renews the hash may come between one attempt and the next. Nothing does so twice. */
const ATTEMPTS = 3;

/** `POST /password`: from the own password to another one. The calling session goes on, all others end. */
@Injectable()
export class PasswordChange {
  constructor(
    private readonly rules: PasswordRules,
    private readonly currentPassword: CurrentPassword,
    private readonly hasher: PasswordHasher,
    private readonly replacement: PasswordReplacement,
    private readonly users: UserProvider,
    private readonly sessions: Sessions,
    private readonly events: AuthEvents,
  ) {}

  /** @throws ValidationFailed before anything is tried or counted; AccountIsLocked, WrongPassword */
  async change(caller: Caller, wanted: ChangePasswordRequest): Promise<void> {
    const { user } = caller;
    if (wanted.password === wanted.current_password) {
      throw new ValidationFailed({ password: [{ key: 'password.unchanged' }] });
    }
    await this.rules.accept(wanted, [this.users.identifierOf(user), this.users.emailOf(user)]);
    await this.replace(caller, wanted);
    this.events.emit(new PasswordChanged(user));
  }

  /** Only the hash that was proved is replaced: of many changes at once one is made, and a reset is not undone. */
  private async replace({ userId, familyId }: Caller, wanted: ChangePasswordRequest): Promise<void> {
    let digest: string | undefined;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const former = await this.currentPassword.verify(userId, wanted.current_password, FIELD);
      digest ??= await this.hasher.hash(wanted.password);
      const renewed = digest;
      const isMade = await this.replacement.replace({
        userId,
        digest: renewed,
        replacing: former,
        endSessions: () => this.endOthers(userId, familyId),
        // The current password is asked for, so the one that the user knows has to be it.
        undo: () => this.users.savePasswordHash(userId, former, renewed),
      });
      if (isMade) return;
    }
    throw new WrongPassword(FIELD);
  }

  /** A token of a co-issuer that names no session spares none. */
  private async endOthers(userId: string, familyId: string | null): Promise<void> {
    if (familyId === null) await this.sessions.endAll(userId, 'password_change');
    else await this.sessions.endOthers(userId, familyId, 'password_change');
  }
}

/** Body of `POST /password`. */
export class ChangePasswordRequest extends NewPasswordRequest {
  @RequiredText()
  current_password!: string;
}
