import { Injectable } from '@nestjs/common';
import { withQuery } from '../kernel/with-query';
import { AccountMails } from '../mail/account-mails';
import { MailQueue } from '../mail/mail-queue';
import type { Mail } from '../mail/mailer';
import { Realm } from '../realm/realm';
import { RESET_TTL } from './reset-token.store';
import { ResetTokens } from './reset-tokens';

/** `POST /forgot-password`: mails a link to the owner of an account. */
@Injectable()
export class ForgottenPassword {
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
