import { Injectable } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { withQuery } from '../../foundation/ports/mail';
import type { Mail } from '../../foundation/ports/mail';
import { Realm } from '../../foundation/realm/realm';
import { PasswordHasher } from '../../identity/password/password-hasher';
import { PasswordRules } from '../../identity/password/password-rules';
import { NewPasswordRequest, RequiredEmail, RequiredText } from '../../request/http/request-body';
import { PasswordReplacement } from '../login/password-replacement';
import { MailQueue } from '../mail/mail-queue';
import { AccountMails } from '../mail/mail.feature';
import { ResetCleanup } from './reset-cleanup';
import { RESET_TTL, type Redeemed, ResetTokens } from './reset-token.store';
import { AuthException } from '../../foundation/platform/errors';

/** `POST /reset-password`: from a mailed token to another password. Signs nobody in. */
@Injectable()
export class PasswordResets {
  constructor(
    private readonly rules: PasswordRules,
    private readonly hasher: PasswordHasher,
    private readonly tokens: ResetTokens,
    private readonly replacement: PasswordReplacement,
    private readonly resetCleanup: ResetCleanup,
    private readonly events: AuthEvents,
  ) {}

  /** @throws ValidationFailed before anything is looked up; ResetFailed, the same for every reason */
  async reset(wanted: ResetPasswordRequest): Promise<void> {
    await this.rules.accept(wanted, [wanted.email]);
    // First, whatever comes: the hash costs the same, and a server too busy for it uses no token up.
    const digest = await this.hasher.hash(wanted.password);
    const redeemed = await this.tokens.redeem(wanted.email, wanted.token);
    if (!redeemed || !(await this.replace(redeemed, wanted.password, digest))) throw new ResetFailed();
    this.events.emit(new PasswordReset(redeemed.account.user));
  }

  /** Whoever is told that it failed may try again with the same link. */
  private async replace({ account, restore }: Redeemed, password: string, digest: string): Promise<boolean> {
    const { userId, identifier } = account;
    // Known only now, and told to nobody but the holder of the link.
    const fault = this.rules.faultOfNames(password, [identifier]);
    if (fault) {
      await restore();
      throw fault;
    }
    const endSessions = (): Promise<void> => this.resetCleanup.run(account);
    const finish = (): Promise<void> => this.resetCleanup.recordVerifiedEmail(account);
    return this.replacement.replace({ userId, digest, endSessions, finish, undo: restore });
  }
}

/** `POST /forgot-password`: mails a link to the owner of an account. */
@Injectable()
export class ResetLinks {
  constructor(
    private readonly tokens: ResetTokens,
    private readonly queue: MailQueue,
    private readonly mails: AccountMails,
    private readonly realm: Realm,
  ) {}

  /**
   * Looks the address up, known or not; all else happens behind the answer, which therefore says nothing: not
   * whether there is an account, nor whether it was mailed just now, nor whether mails can be sent at all.
   *
   * @throws StoreUnavailable
   */
  async request(address: string): Promise<void> {
    const account = await this.tokens.accountOf(address);
    this.queue.add('passwordReset', async () => account && this.mailTo(address));
  }

  /** Looks the address up once more: where mails had to wait, the account may be gone by now. */
  private async mailTo(address: string): Promise<Mail | null> {
    const account = await this.tokens.accountOf(address);
    const token = account && (await this.tokens.issue(account));
    if (!account || token === null) return null;
    const { user, email } = account;
    // Boot has seen to it that there is a URL. What the request says of its host is not asked.
    const url = withQuery(this.realm.options.passwordReset.frontendUrl!, { token, email });
    return this.mails.write('passwordReset', { user, to: email, url, minutes: RESET_TTL / 60 });
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

/** The password cannot be reset: 422, the same for an unknown address and for a token that is none, too old or used. */
export class ResetFailed extends AuthException {
  constructor() {
    super('reset_failed', { status: 422, errors: { email: [{ key: 'auth.reset_failed' }] } });
  }
}
/**
 * A user reset a forgotten password through a mailed link. All sessions have ended, unless
 * `passwordReset.revokeSessions` is off. Worth a mail to the account's owner.
 *
 * @publicApi
 */
export class PasswordReset {
  constructor(readonly user: object) {}
}
