import { Inject, Injectable, Logger } from '@nestjs/common';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { Texts } from '../../foundation/languages/texts';
import { callHost } from '../../foundation/platform/deadline';
import { DEFAULT_LANGUAGE, LANGUAGES, type Language, languageOfTag } from '../../foundation/platform/language';
import {
  EXAMPLE_CHANGE,
  type Mail,
  type MailContent,
  type MailInput,
  type MailKind,
  type StatedMail,
} from '../../foundation/ports/mail';
import { type Feature, MANIFESTS, defineFeature } from '../../foundation/realm/feature';
import { Realm } from '../../foundation/realm/realm';
import { isEmailAddress } from '../../request/http/request-body';
import { perClient } from '../../request/throttling/limiters';
import { builtInMail, shortenedEmail } from './built-in-mail';
import { MailGate, mailsOf } from './mail-gate';
import { MAIL_OPTIONS } from './mail.options';
import { MAIL_EVENTS, MailQueue } from './mail-queue';

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
    return { ...(await this.contentOf(kind, data, await this.languageOf(data.user))), to: data.to };
  }

  /** The content of a mail in a language. */
  async contentOf<Kind extends MailKind>(kind: Kind, data: MailInput<Kind>, language: Language): Promise<MailContent> {
    const { mail, appName } = this.realm.options;
    const { newEmail } = data as { newEmail?: string };
    const complete = { ...data, ...(newEmail && { newEmail: shortenedEmail(newEmail) }), appName, language };
    const builtIn = builtInMail(kind, complete, mail, this.realm.texts);
    const template = mail.templates[kind] as ((mail: object, builtIn: MailContent) => MailContent) | undefined;
    return template ? template(complete, builtIn) : builtIn;
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

const use = (all: readonly string[]): string => `Use ${all.join(', ')}.`;

/** The faults of an option that lists names, each with the correction. */
export function unknownNames(option: string, list: unknown, all: readonly string[], kind: string): string[] {
  if (!Array.isArray(list)) return [`${option} must be true, false or a list. ${use(all)}`];
  const unknown = (list as string[]).filter((name) => !all.includes(name));
  return unknown.map((name) => `${option} names "${name}", which is no ${kind} of the library. ${use(all)}`);
}

/** Why the application must not start with the mails of a guard, each text with the correction. */
function optionErrors({ mail, languages, nameOf }: GuardConfig, manifests: readonly Feature[]): string[] {
  const { language, accentColor } = mail;
  const kinds = [...mailsOf(manifests).keys()].toSorted();
  return [
    ...unknownNames(nameOf('languages'), languages, LANGUAGES, 'language'),
    typeof language !== 'function' &&
      languageOfTag(String(language)) === null &&
      `${nameOf('mail.language')} is "${String(language)}", for which the library has no mails. ${use(LANGUAGES)}`,
    !/^#[0-9a-f]{6}$/i.test(accentColor) &&
      `${nameOf('mail.accentColor')} is "${accentColor}". Set it to a color of the form #1f4fd8.`,
    ...textErrors(mail.texts, nameOf('mail.texts'), kinds, new Texts(manifests)),
  ].filter((text): text is string => typeof text === 'string');
}

/** The replacements of texts that would have no effect, because their language, kind or name is not known. */
function textErrors(texts: object, option: string, all: readonly MailKind[], library: Texts): string[] {
  const kindsOf = (): Readonly<Record<string, object>> => ({ ...library.in(DEFAULT_LANGUAGE).mails });
  return Object.entries(texts).flatMap(([language, kinds]) => {
    if (!(LANGUAGES as readonly string[]).includes(language))
      return [`${option}.${language} is no language of the library. Use ${LANGUAGES.join(', ')}.`];
    return Object.entries(kinds as object).flatMap(([kind, own]) => {
      const builtIn = kindsOf()[kind];
      if (!builtIn) return [`${option}.${language}.${kind} is no kind of mail. Use ${all.join(', ')} or shared.`];
      return Object.entries(own as object)
        .filter(([name, text]) => !Object.hasOwn(builtIn, name) || typeof text !== 'string')
        .map(
          ([name]) =>
            `${option}.${language}.${kind}.${name} must be a text. Texts: ${Object.keys(builtIn).join(', ')}.`,
        );
    });
  });
}

/** The mails of the library to its users. */
export const mail = defineFeature('mail', {
  languages: () => (require('./mail.languages') as typeof import('./mail.languages')).mailLanguages,
  options: MAIL_OPTIONS,
  configErrors: ({ guards }, _production, _sources, manifests) => [
    ...new Set(guards.flatMap((guard) => optionErrors(guard, manifests))),
  ],
  events: MAIL_EVENTS,
  limits: {
    'svc-mailed-links': perClient(({ mailedLinks: limit }) => limit),
  },
  mails: { existingAccount: { class: 'requested', onceIn: 'minute', example: { to: EXAMPLE_CHANGE.to } } },
  providers: [MailGate, MailQueue, AccountMails],
});
