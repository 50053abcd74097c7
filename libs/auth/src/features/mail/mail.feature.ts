import type { GuardConfig } from '../../foundation/config/auth-config';
import { Texts } from '../../foundation/languages/texts';
import { DEFAULT_LANGUAGE, LANGUAGES, languageOfTag } from '../../foundation/platform/language';
import { EXAMPLE_CHANGE, type MailKind } from '../../foundation/ports/mail';
import { type Feature, defineFeature } from '../../foundation/realm/feature';
import { AccountMails, ExistingAccountMails } from './account-mails';
import { MailGate, mailsOf } from './mail-gate';
import { MAIL_OPTIONS } from './mail.options';
import { MAIL_EVENTS, MailQueue } from './mail-queue';

/** Why the application must not start with the mails of a guard, each text with the correction. */
function optionErrors({ mail, languages, nameOf }: GuardConfig, manifests: readonly Feature[]): string[] {
  const { mailer, notices, language, accentColor } = mail;
  const kinds = [...mailsOf(manifests)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const ofNotices = kinds.flatMap(([kind, stated]) => (stated.class === 'notice' ? kind : []));
  const use = (all: readonly string[]): string => `Use ${all.join(', ')}.`;
  const faultsOf = (option: string, list: unknown, all: readonly string[], kind: string): string[] => {
    if (!Array.isArray(list)) return [`${option} must be true, false or a list. ${use(all)}`];
    const unknown = (list as string[]).filter((name) => !all.includes(name));
    return unknown.map((name) => `${option} names "${name}", which is no ${kind} of the library. ${use(all)}`);
  };
  return [
    ...(notices === true ? [] : faultsOf(nameOf('mail.notices'), notices, ofNotices, 'notice')),
    ...faultsOf(nameOf('languages'), languages, LANGUAGES, 'language'),
    (notices === true || notices.length > 0) &&
      !mailer &&
      `${nameOf('mail.notices')} needs mail.mailer. Set it to nodemailerMailer(transport, from), or to your own Mailer.`,
    typeof language !== 'function' &&
      languageOfTag(String(language)) === null &&
      `${nameOf('mail.language')} is "${String(language)}", for which the library has no mails. ${use(LANGUAGES)}`,
    !/^#[0-9a-f]{6}$/i.test(accentColor) &&
      `${nameOf('mail.accentColor')} is "${accentColor}". Set it to a color of the form #1f4fd8.`,
    ...textErrors(
      mail.texts,
      nameOf('mail.texts'),
      kinds.map(([kind]) => kind),
      new Texts(manifests),
    ),
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
  mails: { existingAccount: { class: 'requested', onceIn: 'minute', example: { to: EXAMPLE_CHANGE.to } } },
  providers: [MailGate, MailQueue, AccountMails, ExistingAccountMails],
});
