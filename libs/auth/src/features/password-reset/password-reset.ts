import { Injectable } from '@nestjs/common';
import { bestEffort } from '../../foundation/platform/deadline';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { type Mail, withQuery } from '../../foundation/ports/mail';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { Realm } from '../../foundation/realm/realm';
import { PasswordHasher } from '../../identity/password/password-hasher';
import { PasswordRules } from '../../identity/password/password-rules';
import { NewPasswordRequest, RequiredEmail, RequiredText } from '../../request/http/request-body';
import { AccountRecovery, PasswordReplacement, PasswordReset } from '../login/password-replacement';
import type { Draft } from '../mail/mail-gate';
import { MailQueue } from '../mail/mail-queue';
import { AccountMails } from '../mail/account-mails';
import { type IssuedToken, type Redeemed, ResetTokens } from './reset-token.store';
import { AuthException } from '../../foundation/platform/errors';
import { passwordResetText } from './password-reset.texts';

/** Replaces a password with the token of a mailed link (`POST /reset-password`). Does not sign the user in. */
@Injectable()
export class PasswordResets {
  constructor(
    private readonly rules: PasswordRules,
    private readonly hasher: PasswordHasher,
    private readonly tokens: ResetTokens,
    private readonly replacement: PasswordReplacement,
    private readonly recovery: AccountRecovery,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
  ) {}

  /** @throws ValidationFailed before any look-up; ResetFailed, with the same body for every reason */
  async reset(body: ResetPasswordRequest): Promise<void> {
    await this.rules.accept(body, [body.email]);
    // First, so that every request takes the time of a hash, and a full hash queue consumes no token.
    const digest = await this.hasher.hash(body.password);
    const redeemed = await this.tokens.redeem(body.email, body.token);
    if (!redeemed || !(await this.replace(redeemed, body.password, digest))) throw new ResetFailed();
    this.events.emit(new PasswordReset(redeemed.account.user, this.realm.guard));
  }

  /** Replaces the password. After a failure, the user can try again with the same link. */
  private async replace(
    { account, digest: replacing, restore }: Redeemed,
    password: string,
    digest: string,
  ): Promise<boolean> {
    const { userId, identifier, email } = account;
    const { revokeSessions } = this.realm.options.passwordReset;
    // The identifier is known only here, and only a client with a valid token gets this error.
    const reopen = (): Promise<void> => bestEffort('restoring a reset link', () => restore());
    const fault = this.rules.faultOfNames(password, [identifier]);
    if (fault) {
      await reopen();
      throw fault;
    }
    const endSessions = (moment?: number): Promise<void> => this.recovery.endAccess(account, revokeSessions, moment);
    const finish = (): Promise<void> => this.recovery.recordPerson(account);
    // Only the hash that the token is bound to is replaced: a concurrent change of the password ends the link.
    const undo = (): Promise<void> => restore(digest);
    const isMade = await this.replacement.replace({ userId, digest, replacing, email, endSessions, finish, undo });
    // A login may have renewed the hash of the same password meanwhile: then the link is valid for the renewed hash.
    if (!isMade) await reopen();
    // All links of the user are invalid, because they are bound to the former hash. So an error here is no failure.
    else await this.replacement.forgetFormer({ userId, digest });
    return isMade;
  }
}

/** Mails a reset link to the owner of an account (`POST /forgot-password`). */
@Injectable()
export class ResetLinks {
  constructor(
    private readonly tokens: ResetTokens,
    private readonly users: TimedUserProvider,
    private readonly queue: MailQueue,
    private readonly mails: AccountMails,
    private readonly realm: Realm,
  ) {}

  /**
   * Only checks that the user store answers. The look-up of the address and everything else happen after the response. So
   * neither the response nor its time shows whether an account exists, whether it has just got a mail, or whether mails can
   * be sent.
   *
   * @param isOwners whether the request contained a secret that was mailed to this address
   * @throws StoreUnavailable
   */
  async request(address: string, isOwners = false): Promise<void> {
    await this.users.requireAnswer();
    this.queue.add('passwordReset', () => this.draftFor(address, isOwners));
  }

  /** Also for an address without an account: work for accounts only would show in the time of the next response. */
  private async draftFor(address: string, isOwners: boolean): Promise<Draft<'passwordReset'>> {
    const account = await this.users.mailedAccount(address);
    let issued: IssuedToken | null = null;
    const write = async (): Promise<Mail | null> => {
      issued = await this.tokens.issue(address, account);
      return issued && this.mailOf(issued);
    };
    const failed = async (): Promise<unknown> => issued && this.tokens.recordFailedMail(issued);
    return { to: account?.email ?? address, isOwners, write, failed };
  }

  private mailOf({ account: { user, email }, token }: IssuedToken): Promise<Mail> {
    // The URL is required at boot. The `Host` header of the request is not used.
    const { frontendUrl, expireMinutes: minutes } = this.realm.options.passwordReset;
    const url = withQuery(frontendUrl!, { token, email });
    return this.mails.write('passwordReset', { user, to: email, url, minutes });
  }
}

/** Body of `POST /forgot-password`. */
export class ForgotPasswordRequest {
  @RequiredEmail()
  email!: string;
}

/** Body of `POST /reset-password`. */
export class ResetPasswordRequest extends NewPasswordRequest {
  @RequiredText()
  token!: string;

  @RequiredEmail()
  email!: string;
}

/** The password cannot be reset: 422, with the same body for an unknown address and an invalid, expired or used token. */
export class ResetFailed extends AuthException {
  constructor() {
    super('reset_failed', { status: 422, errors: { email: [passwordResetText('auth.reset_failed')] } });
  }
}
