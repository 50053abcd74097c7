import { Injectable } from '@nestjs/common';
import { Clock, Realm, identity, input, locking, mailing } from '../../kit';
import { EmailCodes, type OpenRequest } from './email-codes';

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
    private readonly users: identity.TimedUserProvider,
    private readonly standings: identity.AccountStandings,
    private readonly locks: locking.LoginLocks,
    private readonly queue: mailing.MailQueue,
    private readonly mails: mailing.AccountMails,
    private readonly clock: Clock,
    private readonly realm: Realm,
  ) {}

  /**
   * Opens a request. The address is looked up after the response, where the code is made and mailed: a look-up takes longer for
   * an address with an account. So the work before the response is the same for every address. The response is also the same
   * where the address has got too many mails: other requests for an address do not end the codes that were mailed.
   *
   * @throws StoreUnavailable
   */
  async request(address: string): Promise<RequestedCode> {
    // Without the user store no code could be made, and the response would promise one.
    await this.users.requireAnswer();
    const codeToken = await this.codes.open(address);
    const end = this.clock.monotonic() + 1000 * this.codes.lifetime;
    this.queue.add('signInCode', () => this.draftFor(address, codeToken, end));
    return { codeToken, expiresIn: this.codes.lifetime };
  }

  /** The counter on which wrong codes for a request count. @throws StoreUnavailable */
  async subjectFor({ subject, address }: OpenRequest): Promise<string> {
    return subject ?? this.subjectOf(await this.users.mailedAccount(address), address);
  }

  /** Where the email is the identifier, the counter of a login with it: wrong codes and wrong passwords count together. */
  private subjectOf(account: identity.MailedAccount | null, address: string): string {
    if (this.realm.options.username !== 'email') return locking.mailLock(address).subject;
    return this.locks.of(address, account?.userId ?? null).subject;
  }

  /**
   * A code is also made if it is not mailed, for an address without an account, one that has got too many mails, or a user who may
   * not sign in: then it is of no user. Work for mails only would show in the time of the next response.
   */
  private async draftFor(address: string, codeToken: string, end: number): Promise<mailing.Draft<'signInCode'> | null> {
    if (this.clock.monotonic() >= end) return null;
    const account = await this.users.mailedAccount(address);
    const lookedUp = { address, subject: this.subjectOf(account, address) };
    const { userId, email } = account ?? { userId: '', email: address };
    const make = async (isInLimits: boolean): Promise<mailing.Mail | null> => {
      const isAdmitted = !(await this.standings.isMailedRefused(account)) && isInLimits;
      const digest = await this.users.passwordHashOfMailed(account);
      const code = await this.codes.issue(codeToken, lookedUp, { userId: isAdmitted ? userId : '', email, digest });
      if (!account || !isAdmitted) return null;
      const { frontendUrl, expireMinutes: minutes } = this.realm.options.emailCode;
      // In the fragment, which browsers send to no server.
      const parts = { secret: code, email, guard: this.realm.guard };
      const url = frontendUrl ? mailing.mailedLink(frontendUrl, parts, (page) => `${page}#code=${code}`) : null;
      return this.mails.write('signInCode', { user: account.user, to: email, code, url, minutes });
    };
    return { to: email, write: () => make(true), refused: () => make(false), countsAlways: true };
  }
}

/** Body of `POST /login/code`. */
export class CodeRequest {
  @input.RequiredEmail()
  email!: string;
}
