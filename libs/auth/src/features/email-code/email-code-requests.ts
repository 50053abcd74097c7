import { Injectable } from '@nestjs/common';
import { Clock } from '../../foundation/platform/clock';
import type { Mail } from '../../foundation/ports/mail';
import { Realm } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { RequiredEmail } from '../../request/http/request-body';
import { mailLock, LoginLocks } from '../../request/lockout/lockout.store';
import { limit } from '../../request/throttling/limiters';
import { limitState } from '../../request/throttling/rate-limit.policy';
import { TooManyRequests } from '../../request/throttling/throttling.errors';
import { MailQueue } from '../mail/mail-queue';
import { AccountMails } from '../mail/mail.feature';
import { type ResetAccount, mailedAccount } from '../password-reset/reset-token.store';
import { EmailCodes } from './email-codes';

/** The answer to a request for a code. */
export interface RequestedCode {
  /** The secret that the browser sends with the code. */
  readonly codeToken: string;
  /** Seconds for which the code is valid. */
  readonly expiresIn: number;
}

/** Mails a code to the owner of an account (`POST /login/code`). */
@Injectable()
export class EmailCodeRequests {
  constructor(
    private readonly codes: EmailCodes,
    private readonly users: TimedUserProvider,
    private readonly locks: LoginLocks,
    private readonly store: SecurityStore,
    private readonly queue: MailQueue,
    private readonly mails: AccountMails,
    private readonly clock: Clock,
    private readonly realm: Realm,
  ) {}

  /**
   * Opens a request, whether or not the address has an account: a look-up, a counter and a write. The code is made and mailed
   * after the response. So the response does not show whether an account exists.
   *
   * @throws TooManyRequests, StoreUnavailable
   */
  async request(address: string): Promise<RequestedCode> {
    const subject = this.subjectOf(await mailedAccount(this.users, address), address);
    await this.admit(subject);
    const codeToken = await this.codes.open(subject);
    const end = this.clock.monotonic() + 1000 * this.codes.lifetime;
    this.queue.add('signInCode', () => this.mailFor(address, { codeToken, subject, end }));
    return { codeToken, expiresIn: this.codes.lifetime };
  }

  /** Where the email is the identifier, the counter of a login with it: wrong codes and wrong passwords count together. */
  private subjectOf(account: ResetAccount | null, address: string): string {
    if (this.realm.options.username !== 'email') return mailLock(address).subject;
    return this.locks.of(address, account?.userId ?? null).subject;
  }

  /** Requests from many clients must not flood a mailbox, nor get many codes to guess at. */
  private async admit(subject: string): Promise<void> {
    const { guard, options } = this.realm;
    const limits = [limit('email-code-mails', { key: `${guard}|${subject}`, ...options.rateLimits.emailCodeMails })];
    const tally = await this.store.count(limits);
    if (!tally.admitted) throw new TooManyRequests(limitState(limits, tally), this.clock.seconds());
  }

  /**
   * Makes the code. Looks up the address again, because the account may be deleted while the mail waits in the queue. An
   * address without an account gets a code, too, which is not mailed and is of no user: the response is on its way, and work
   * for accounts only could delay it.
   */
  private async mailFor(
    address: string,
    { codeToken, subject, end }: { codeToken: string; subject: string; end: number },
  ): Promise<Mail | null> {
    if (this.clock.monotonic() >= end) return null;
    const account = await mailedAccount(this.users, address);
    const { userId, email } = account ?? { userId: '', email: address };
    const digest = await this.users.passwordHashOf(userId).catch((error: unknown) => {
      // A provider of the host may be unable to read an empty id.
      if (account) throw error;
      return null;
    });
    const code = await this.codes.issue(codeToken, subject, { userId, email, digest });
    if (!account) return null;
    const { frontendUrl, expireMinutes: minutes } = this.realm.options.emailCode;
    // In the fragment, which browsers send to no server.
    const url = frontendUrl === undefined ? null : `${frontendUrl}#code=${code}`;
    return this.mails.write('signInCode', { user: account.user, to: email, code, url, minutes });
  }
}

/** Body of `POST /login/code`. */
export class CodeRequest {
  @RequiredEmail()
  email!: string;
}
