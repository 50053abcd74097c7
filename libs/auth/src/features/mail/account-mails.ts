import { Inject, Injectable, Logger } from '@nestjs/common';
import { callHost } from '../../foundation/platform/deadline';
import { DEFAULT_LANGUAGE, type Language, languageOfTag } from '../../foundation/platform/language';
import {
  MAIL_HEADERS,
  type Mail,
  type MailContent,
  type MailInput,
  type MailKind,
  type StatedMail,
} from '../../foundation/ports/mail';
import { type Feature, MANIFESTS } from '../../foundation/realm/feature';
import { Realm } from '../../foundation/realm/realm';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { isEmailAddress } from '../../request/http/request-body';
import { builtInMail, shortenedEmail } from './built-in-mail';
import { type Draft, mailsOf } from './mail-gate';
import { MailQueue } from './mail-queue';

/** The content of a mail with example data. */
export interface MailPreview extends MailContent {
  readonly kind: MailKind;
}

/** Writes the mails of a realm, in the language of the user, with the host's texts and templates if there are any. */
@Injectable()
export class AccountMails {
  private readonly logger = new Logger('Auth');

  private readonly stated: ReadonlyMap<MailKind, StatedMail>;

  constructor(
    private readonly realm: Realm,
    @Inject(MANIFESTS) manifests: readonly Feature[],
  ) {
    this.stated = mailsOf(manifests);
  }

  /** @throws Error if the stored address is not a valid email address: a mailer might send the mail to another one */
  async write<Kind extends MailKind>(kind: Kind, data: MailInput<Kind>): Promise<Mail> {
    if (!isEmailAddress(data.to)) throw new Error('the stored address is not an email address');
    const content = await this.contentOf(kind, data, await this.languageOf(data.user));
    return { ...content, to: data.to, headers: MAIL_HEADERS };
  }

  /** The content of a mail in a language. */
  async contentOf<Kind extends MailKind>(kind: Kind, data: MailInput<Kind>, language: Language): Promise<MailContent> {
    const { mail, appName } = this.realm.options;
    const { newEmail } = data as { newEmail?: string };
    const complete = { ...data, ...(newEmail && { newEmail: shortenedEmail(newEmail) }), appName, language };
    const builtIn = builtInMail(kind, complete, mail, this.realm.texts);
    const template = mail.templates[kind] as
      ((mail: object, builtIn: MailContent) => MailContent | Promise<MailContent>) | undefined;
    const content = template ? await template(complete, builtIn) : builtIn;
    // A line break in the subject would begin another header field.
    return { ...content, subject: content.subject.replaceAll(/[\s\p{Cc}]+/gu, ' ') };
  }

  /**
   * Writes every mail with example data, as it would be sent.
   *
   * @param user the user whom the host's templates get
   */
  previews(language: Language, user: object): Promise<MailPreview[]> {
    return Promise.all(
      [...this.stated].map(async ([kind, { example }]) => {
        const data = { user, ...example } as MailInput<typeof kind>;
        return { kind, ...(await this.contentOf(kind, data, language)) };
      }),
    );
  }

  /** The language of a user's mails. A failure of the host's function must not prevent a mail. */
  private async languageOf(user: object): Promise<Language> {
    const { guard, options } = this.realm;
    const { language } = options.mail;
    if (typeof language === 'string') return languageOfTag(language) ?? DEFAULT_LANGUAGE;
    try {
      const tag = await callHost('mail.language', () => language(user, { guard }));
      return languageOfTag(tag ?? '') ?? DEFAULT_LANGUAGE;
    } catch (error) {
      this.logger.warn(
        `mail.language failed; the mail is in English: ${(error as Error | null)?.stack ?? String(error)}`,
      );
      return DEFAULT_LANGUAGE;
    }
  }
}

/**
 * Mails the owner of an account when a registration or a change of email contained its email. The mail never has a link that
 * verifies the email, also where it is not verified: the account may have the password of another person, which the link would
 * make usable. A reset of the password verifies the email, too.
 */
@Injectable()
export class ExistingAccountMails {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly queue: MailQueue,
    private readonly mails: AccountMails,
  ) {}

  send(user: object): void {
    const id = this.users.idOf(user);
    this.queue.add('existingAccount', () => this.draftFor(id));
  }

  /** Reads the user again, because the account may be deleted while the mail waits in the queue. */
  private async draftFor(id: string): Promise<Draft<'existingAccount'> | null> {
    const account = await this.users.mailedUser(id);
    if (!account) return null;
    const { user, email: to } = account;
    return { to, write: () => this.mails.write('existingAccount', { user, to }) };
  }
}
