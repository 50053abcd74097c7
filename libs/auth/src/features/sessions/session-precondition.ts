import { Injectable } from '@nestjs/common';
import { AccountStandings, SignInRefused } from '../../identity/tokens/access-tokens';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** Returns whether a session may still start, given the password hash that is stored now. */
export type PasswordHashCheck = (passwordHash: string | null) => boolean | Promise<boolean>;

/**
 * Checks whether the tokens of a stored session may be sent.
 *
 * Between the check of a password and the start of the session, the password may be replaced, the user deleted or
 * suspended, and all sessions ended. Such a request first stores its change and then ends the sessions. A login first
 * stores its session and then makes this check. So either the request ends the session, or the check sees the change.
 */
@Injectable()
export class SessionPrecondition {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly standings: AccountStandings,
  ) {}

  /**
   * @param passwordHashCheck omitted when it is enough that the user exists
   * @throws SignInRefused
   */
  async stillValid(userId: string, passwordHashCheck?: PasswordHashCheck): Promise<boolean> {
    const digest = passwordHashCheck ? await this.users.passwordHashOf(userId) : null;
    if (passwordHashCheck && !(await passwordHashCheck(digest))) return false;
    // A user with a password hash exists.
    const standing = await this.standings.of(userId, digest !== null);
    if (standing === 'refused') throw new SignInRefused().withReason('sign_in_refused', userId);
    return standing === 'good';
  }
}
