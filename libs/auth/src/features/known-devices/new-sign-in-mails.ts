import { Injectable } from '@nestjs/common';
import { newSecret } from '../../foundation/platform/crypto';
import { type Mail, withQuery } from '../../foundation/ports/mail';
import { Realm } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import type { ClientInfo } from '../../request/http/client-info';
import { limit } from '../../request/throttling/limiters';
import { MailQueue } from '../mail/mail-queue';
import { AccountMails } from '../mail/mail.feature';
import { KnownDeviceStore } from './known-device.store';

/** Mails to one account in an hour. The first of them inform the owner; further ones would flood the mailbox. */
const MAX_MAILS = { maxAttempts: 5, decaySeconds: 3600 };

/** Mails the owner of an account about a sign-in on a new device. The mail is prepared and sent after the response. */
@Injectable()
export class NewSignInMails {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly devices: KnownDeviceStore,
    private readonly store: SecurityStore,
    private readonly queue: MailQueue,
    private readonly mails: AccountMails,
    private readonly realm: Realm,
  ) {}

  /** Does nothing while `knownDevices.mail` is off. */
  send(id: string, userId: string, client: ClientInfo): void {
    if (this.realm.options.knownDevices.mail) this.queue.add('newSignIn', () => this.mailFor(id, userId, client));
  }

  private async mailFor(id: string, userId: string, { ip, userAgent }: ClientInfo): Promise<Mail | null> {
    const { guard, isDefault, knownDevices } = this.realm.options;
    // The address may have changed while the mail waited in the queue, and a deleted account gets no mail.
    const user = await this.users.findById(userId);
    const to = user && this.users.emailOf(user);
    // Several sign-ins may have queued it.
    if (!user || !(await this.devices.isMailDue(id))) return null;
    // Without an address it is not due any more.
    if (!to) return this.devices.link(id, newSecret()).then(() => null);
    const rule = limit('svc-new-sign-in', { key: `user|${guard}|${userId}`, ...MAX_MAILS });
    if (!(await this.store.count([rule])).admitted) return null;
    const token = newSecret();
    const time = await this.devices.link(id, token);
    if (time === null) return null;
    // The page has to know at which guard it reports. The URL is required at boot.
    const url = withQuery(knownDevices.frontendUrl!, { token, ...(!isDefault && { guard }) });
    return this.mails.write('newSignIn', {
      user,
      to,
      url,
      minutes: knownDevices.expireMinutes,
      time,
      ip,
      userAgent,
    });
  }
}
