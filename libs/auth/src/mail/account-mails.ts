import { Injectable } from '@nestjs/common';
import { Realm } from '../realm/realm';
import { type LinkMail, type MailKind, TEMPLATES } from './mail-templates';
import type { Mail } from './mailer';

/** Writes the mails of a realm, in the host's words where it has some. */
@Injectable()
export class AccountMails {
  constructor(private readonly realm: Realm) {}

  async write(kind: MailKind, link: Omit<LinkMail, 'appName'>): Promise<Mail> {
    const { mail, appName } = this.realm.options;
    const template = mail.templates[kind] ?? TEMPLATES[kind];
    return { ...(await template({ ...link, appName })), to: link.to };
  }
}
