import { Injectable } from '@nestjs/common';
import { mailErrors } from '../../foundation/config/url-checks';
import { type Mail, type MailContent, type MailKind, type MailTemplates, TEMPLATES } from '../../foundation/ports/mail';
import type { Feature } from '../../foundation/realm/feature';
import { Realm } from '../../foundation/realm/realm';
import { isEmailAddress } from '../../request/http/request-body';
import { MailQueue } from './mail-queue';

/** Writes the mails of a realm, with the host's templates if there are any. */
@Injectable()
export class AccountMails {
  constructor(private readonly realm: Realm) {}

  /** @throws Error if the stored address is not a valid email address: a mailer might send the mail to another one */
  async write<Kind extends MailKind>(
    kind: Kind,
    data: Omit<Parameters<MailTemplates[Kind]>[0], 'appName'>,
  ): Promise<Mail> {
    if (!isEmailAddress(data.to)) throw new Error('the stored address is not an email address');
    const { mail, appName } = this.realm.options;
    const template = (mail.templates[kind] ?? TEMPLATES[kind]) as (all: object) => MailContent | Promise<MailContent>;
    return { ...(await template({ ...data, appName })), to: data.to };
  }
}

/** The mails of the library to its users. */
export const mail: Feature = {
  flags: ['passwordReset', 'emailVerification', 'registration', 'emailChange', 'usernameChange'],
  // The mails of an extra guard, or of a host with its own routes, are checked at their first call.
  configErrors: ({ guards, encryption, routes }, production) =>
    guards.flatMap((guard) => (guard.isDefault && routes ? mailErrors(guard, encryption, production) : [])),
  providers: [MailQueue, AccountMails],
};
