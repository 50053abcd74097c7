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
import { ProvedEmails } from '../../identity/users/proved-emails';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { isEmailAddress } from '../../request/http/request-body';
import { builtInMail, shortenedEmail } from './built-in-mail';
import { type Draft, mailsOf } from './mail-gate';
import { nameInMail } from './mail-name.policy';
import type { MailLanguage } from './mail.options';
import { MailQueue } from './mail-queue';

/** The content of a mail with example data. */
export interface MailPreview extends MailContent {
  readonly kind: MailKind;
}

/** Writes the mails of a realm, in the language of the user and with the name, with the host's texts and templates if there are any. */
@Injectable()
export class AccountMails {
  private readonly logger = new Logger('Auth');

  private readonly stated: ReadonlyMap<MailKind, StatedMail>;

  constructor(
    private readonly realm: Realm,
    private readonly users: TimedUserProvider,
    private readonly provedEmails: ProvedEmails,
    @Inject(MANIFESTS) manifests: readonly Feature[],
  ) {
    this.stated = mailsOf(manifests);
  }

  /** @throws Error if the stored address is not a valid email address: a mailer might send the mail to another one */
  async write<Kind extends MailKind>(kind: Kind, data: MailInput<Kind>): Promise<Mail> {
    if (!isEmailAddress(data.to)) throw new Error('the stored address is not an email address');
    const name = (await this.isOwner(data)) ? await this.nameOf(data.user) : null;
    const content = await this.contentOf(kind, data, await this.languageOf(data.user), name);
    return { ...content, to: data.to, headers: MAIL_HEADERS };
  }

  /** The content of a mail in a language. */
  private async contentOf<Kind extends MailKind>(
    kind: Kind,
    data: MailInput<Kind>,
    language: Language,
    name: string | null,
  ): Promise<MailContent> {
    const { mail, appName } = this.realm.options;
    const { newEmail } = data as { newEmail?: string };
    const complete = {
      ...data,
      ...(newEmail && { newEmail: shortenedEmail(newEmail) }),
      appName,
      language,
      ...(name && { name }),
    };
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
  async previews(language: Language, user: object): Promise<MailPreview[]> {
    const { recipientName } = this.realm.options.mail;
    const isExample = recipientName !== undefined && Object.keys(user).length === 0;
    const name = isExample ? 'Ada' : await this.nameOf(user);
    return Promise.all(
      [...this.stated].map(async ([kind, { example }]) => {
        const data = { user, ...example } as MailInput<typeof kind>;
        return { kind, ...(await this.contentOf(kind, data, language, name)) };
      }),
    );
  }

  private async languageOf(user: object): Promise<Language> {
    const { language } = this.realm.options.mail;
    const tag = typeof language === 'string' ? language : await this.ofHost('language', language, user, 'in English');
    return languageOfTag(tag ?? '') ?? DEFAULT_LANGUAGE;
  }

  /** The name of a user; null without one, and for a text that a mail must not contain. */
  private async nameOf(user: object): Promise<string | null> {
    const { recipientName: of } = this.realm.options.mail;
    if (of === undefined) return null;
    const isColumn = typeof of === 'string';
    return nameInMail(
      isColumn ? (user as Record<string, unknown>)[of] : await this.ofHost('recipientName', of, user, 'without a name'),
    );
  }

  /**
   * Whether a mail goes to the owner of the account, and to no stranger: anyone can register the address of another person, or change
   * to it, with a name that is a message to this person. Where addresses are not verified, no one is known to be the owner.
   */
  private async isOwner({ user, to }: { user: object; to: string }): Promise<boolean> {
    if (this.realm.options.mail.recipientName === undefined) return false;
    const isStated = this.users.emailOf(user) === to && this.users.isEmailVerified(user) === true;
    return isStated && (await this.provedEmails.isProved(user));
  }

  /** Calls a function of the host. Its failure must not prevent a mail. */
  private async ofHost(
    option: string,
    of: MailLanguage,
    user: object,
    otherwise: string,
  ): Promise<Awaited<ReturnType<MailLanguage>>> {
    const { guard } = this.realm;
    try {
      const text = await callHost(`mail.${option}`, () => of(user, { guard }));
      if (typeof (text ?? '') !== 'string') throw new TypeError('it has returned no text');
      return text;
    } catch (error) {
      const cause = (error as Error | null)?.stack ?? String(error);
      this.logger.warn(`mail.${option} failed; the mail is ${otherwise}: ${cause}`);
      return null;
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
