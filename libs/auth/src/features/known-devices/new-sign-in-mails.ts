import { Injectable } from '@nestjs/common';
import { newSecret } from '../../foundation/platform/crypto';
import { type Mail, withQuery } from '../../foundation/ports/mail';
import { Realm } from '../../foundation/realm/realm';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import type { ClientInfo } from '../../request/http/client-info';
import { ProvedEmails } from '../../identity/users/proved-emails';
import type { Draft } from '../mail/mail-gate';
import { MailQueue } from '../mail/mail-queue';
import { AccountMails } from '../mail/account-mails';
import { KnownDeviceStore } from './known-device.store';

/** Mails the owner of an account about a sign-in on a new device. The mail is prepared and sent after the response. */
@Injectable()
export class NewSignInMails {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly devices: KnownDeviceStore,
    private readonly provedEmails: ProvedEmails,
    private readonly queue: MailQueue,
    private readonly mails: AccountMails,
    private readonly realm: Realm,
  ) {}

  /** Does nothing while `knownDevices.mail` is off. */
  send(id: string, userId: string, client: ClientInfo): void {
    if (this.realm.options.knownDevices.mail) this.queue.add('newSignIn', () => this.draftFor(id, userId, client));
  }

  private async draftFor(id: string, userId: string, client: ClientInfo): Promise<Draft<'newSignIn'> | null> {
    // The address may have changed while the mail waited in the queue, and a deleted account gets no mail.
    const user = await this.users.findById(userId);
    // Several sign-ins may have queued it.
    if (!user || !(await this.devices.isMailDue(id))) return null;
    const to = this.users.emailOf(user);
    const sent = (): Promise<void> => this.devices.settleMail(id);
    if (!to) return sent().then(() => null);
    const write = (): Promise<Mail | null> => this.write(id, user, to, client);
    return { to, proof: await this.provedEmails.proofOf(user), once: id, write, sent };
  }

  /** The mail stays due until the mail server has accepted it. A further attempt replaces the link. */
  private async write(id: string, user: object, to: string, { ip, userAgent }: ClientInfo): Promise<Mail | null> {
    const { guard, isDefault, knownDevices } = this.realm.options;
    const token = newSecret();
    const time = await this.devices.link(id, token);
    if (time === null) return null;
    // The page has to know at which guard it reports. The URL is required at boot.
    const url = withQuery(knownDevices.frontendUrl!, { token, ...(!isDefault && { guard }) });
    const minutes = knownDevices.expireMinutes;
    return this.mails.write('newSignIn', { user, to, url, minutes, time, ip, userAgent });
  }
}
