import { Injectable } from '@nestjs/common';
import { isEmailAddress } from '../http/email-address';
import { Realm } from '../realm/realm';
import { type LinkMail, type MailKind, TEMPLATES } from './mail-templates';
import type { Mail } from './mailer';

/** Writes the mails of a realm, in the host's words where it has some. */
@Injectable()
export class AccountMails {
  constructor(private readonly realm: Realm) {}

  /** @throws Error where the stored address is none: a mailer might read another one out of it */
  async write(kind: MailKind, link: Omit<LinkMail, 'appName'>): Promise<Mail> {
    if (!isEmailAddress(link.to)) throw new Error('the stored address is no email address');
    const { mail, appName } = this.realm.options;
    const template = mail.templates[kind] ?? TEMPLATES[kind];
    return { ...(await template({ ...link, appName })), to: link.to };
  }
}
