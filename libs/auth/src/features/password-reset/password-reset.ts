import { Injectable } from '@nestjs/common';
import { Realm, crypto, deadline, errors, event, identity, input, mailing, type manifest, session } from '../../kit';
import { ResetTokenStore, claimOf } from './reset-token.store';
import { passwordResetText } from './password-reset.texts';

/** A consumed token and its account. */
interface Redeemed {
  readonly account: identity.MailedAccount;
  /** The stored password hash that the token is bound to; null for none. */
  readonly digest: string | null;
  /**
   * Makes the token usable again, for the hash to which it is bound: not after another request has changed the password,
   * but after a login has renewed the hash. If one of `own` is stored, the token is bound to it.
   *
   * @param own hashes that this reset may have stored
   */
  readonly restore: (...own: string[]) => Promise<void>;
}

/** Replaces a password with the token of a mailed link (`POST /reset-password`). Does not sign the user in. */
@Injectable()
export class PasswordResets {
  constructor(
    private readonly rules: identity.PasswordRules,
    private readonly hasher: identity.PasswordHasher,
    private readonly tokens: ResetTokenStore,
    private readonly users: identity.TimedUserProvider,
    private readonly replacement: session.PasswordReplacement,
    private readonly recovery: session.AccountRecovery,
    private readonly events: event.AuthEvents,
    private readonly realm: Realm,
  ) {}

  /** @throws ValidationFailed before any look-up; ResetFailed, with the same body for every reason */
  async reset(body: ResetPasswordRequest): Promise<void> {
    await this.rules.accept(body, [body.email]);
    // First, so that every request takes the time of a hash, and a full hash queue consumes no token.
    const digest = await this.hasher.hash(body.password);
    const redeemed = await this.redeem(body.email, body.token);
    if (!redeemed || !(await this.replace(redeemed, body.password, digest))) throw new ResetFailed();
    this.events.emit(new session.PasswordReset(redeemed.account.user, this.realm.guard));
  }

  /** Consumes a token; null for an invalid one. Runs the same queries for an address without an account. */
  private async redeem(address: string, token: string): Promise<Redeemed | null> {
    const account = await this.users.mailedAccount(address);
    const owner = account ?? { userId: '', email: address };
    const digest = await this.users.passwordHashOfMailed(account);
    const isRedeemed = await this.tokens.redeem(claimOf(owner, token, digest));
    if (!account || !isRedeemed) return null;
    const restore = async (...own: string[]): Promise<void> => {
      const stored = own.length > 0 ? await this.users.passwordHashOf(account.userId) : null;
      await this.tokens.restore(claimOf(account, token, stored), stored !== null && own.includes(stored));
    };
    return { account, digest, restore };
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
    const reopen = (): Promise<void> => deadline.bestEffort('restoring a reset link', () => restore());
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
    private readonly tokens: ResetTokenStore,
    private readonly users: identity.TimedUserProvider,
    private readonly queue: mailing.MailQueue,
    private readonly mails: mailing.AccountMails,
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
  private async draftFor(address: string, isOwners: boolean): Promise<mailing.Draft<'passwordReset'>> {
    const account = await this.users.mailedAccount(address);
    const token = crypto.newSecret();
    let isIssued = false;
    const write = async (): Promise<mailing.Mail | null> => {
      isIssued = await this.issue(address, account, token);
      if (!account || !isIssued) return null;
      const { user, email } = account;
      // The URL is required at boot. The `Host` header of the request is not used.
      const { frontendUrl, expireMinutes: minutes } = this.realm.options.passwordReset;
      const parts = { secret: token, email, guard: this.realm.guard };
      const url = mailing.mailedLink(frontendUrl!, parts, (page) => mailing.withQuery(page, { token, email }));
      return this.mails.write('passwordReset', { user, to: email, url, minutes });
    };
    const failed = async (): Promise<unknown> =>
      account && isIssued && this.tokens.recordFailedMail(account.userId, crypto.sha256(token));
    return { to: account?.email ?? address, isOwners, write, failed };
  }

  /**
   * Issues a token for the account of an address. False if the address has none, if the account has enough tokens, if the
   * pause after the latest is not over, or if the user was deleted. Runs the same statements for an address without an
   * account: the time of a request that is sent at once afterwards would show whether there is one.
   */
  private async issue(address: string, account: identity.MailedAccount | null, token: string): Promise<boolean> {
    const owner = account ?? { userId: '', email: address };
    const digest = await this.users.passwordHashOfMailed(account);
    const isIssued = await this.tokens.issue(claimOf(owner, token, digest), account !== null);
    if (!account || !isIssued) return false;
    if (this.tokens.checksUsers || (await this.users.findById(account.userId))) return true;
    // A deletion of the user removes the tokens afterwards: either it removes this one, or this check finds no user.
    await this.tokens.removeAll(account.userId);
    return false;
  }
}

/** Body of `POST /forgot-password`. */
export class ForgotPasswordRequest {
  @input.RequiredEmail()
  email!: string;
}

/** Body of `POST /reset-password`. */
export class ResetPasswordRequest extends input.NewPasswordRequest {
  @input.RequiredText()
  token!: string;

  @input.RequiredEmail()
  email!: string;
}

/** The password cannot be reset: 422, with the same body for an unknown address and an invalid, expired or used token. */
export class ResetFailed extends errors.AuthException {
  constructor() {
    super('reset_failed', { status: 422, errors: { email: [passwordResetText('auth.reset_failed')] } });
  }
}

export const RESET_HOOKS: manifest.HookPoints = {
  passwordRenewed: (services, hash) => services.get(ResetTokenStore).renew(hash),
  passwordReplaced: (services, { userId, digest }) => services.get(ResetTokenStore).removeAll(userId, { digest }),
  emailReplaced: (services, userId, kept) => services.get(ResetTokenStore).removeAll(userId, kept),
  passwordLink: (services, address) => services.get(ResetLinks).request(address, true),
};
