import { Injectable } from '@nestjs/common';
import { OwnPassword } from '../confirmation/own-password';
import { ValidationFailed } from '../kernel/auth.exception';
import { AuthEvents } from '../kernel/auth-events';
import { PasswordReplacement } from '../login/password-replacement';
import { PasswordHasher } from '../password/password-hasher';
import { PasswordRules } from '../password/password-rules';
import { Sessions } from '../sessions/sessions';
import type { Caller } from '../tokens/caller';
import { UserProvider } from '../users/user-provider';
import type { ChangePasswordRequest } from './change-password.request';
import { PasswordChanged } from './password-changed.event';

/** `POST /password`: from the own password to another one. The calling session goes on, all others end. */
@Injectable()
export class PasswordChange {
  constructor(
    private readonly rules: PasswordRules,
    private readonly ownPassword: OwnPassword,
    private readonly hasher: PasswordHasher,
    private readonly replacement: PasswordReplacement,
    private readonly users: UserProvider,
    private readonly sessions: Sessions,
    private readonly events: AuthEvents,
  ) {}

  /** @throws ValidationFailed before anything is tried or counted; AccountIsLocked, WrongPassword */
  async make({ userId, familyId, user }: Caller, wanted: ChangePasswordRequest): Promise<void> {
    if (wanted.password === wanted.current_password) {
      throw new ValidationFailed({ password: [{ key: 'password.unchanged' }] });
    }
    await this.rules.accept(wanted, [this.users.identifierOf(user), this.users.emailOf(user)]);
    await this.ownPassword.prove(userId, wanted.current_password, 'current_password');
    await this.replacement.store(userId, await this.hasher.hash(wanted.password));
    // After the save: whoever signs in with the former password until then is signed out with the others.
    await (familyId === null ? this.sessions.revokeAll(userId) : this.sessions.revokeOthers(userId, familyId));
    this.events.emit(new PasswordChanged(user));
  }
}
