import type { GuardConfig } from '../../foundation/config/auth-config';
import { Texts } from '../../foundation/languages/texts';
import { urlFault } from '../../foundation/config/url-checks';
import { DEFAULT_LANGUAGE, LANGUAGES, languageOfTag } from '../../foundation/platform/language';
import { EXAMPLE_CHANGE, type MailKind } from '../../foundation/ports/mail';
import { type Feature, defineFeature } from '../../foundation/realm/feature';
import type { UserProvider } from '../../foundation/ports/user-provider';
import { knowsEmailState } from '../../identity/users/provider-checks';
import { TypeormUserProvider } from '../../identity/users/typeorm-user-provider';
import { perClient } from '../../request/throttling/limiters';
import { AccountMails, ExistingAccountMails } from './account-mails';
import { MailGate, mailsOf } from './mail-gate';
import { MAIL_OPTIONS } from './mail.options';
import { MAIL_EVENTS, MailQueue } from './mail-queue';

const use = (all: readonly string[]): string => `Use ${all.join(', ')}.`;

/** The faults of an option that lists names, each with the correction. */
export function unknownNames(option: string, list: unknown, all: readonly string[], kind: string): string[] {
  if (!Array.isArray(list)) return [`${option} must be true, false or a list. ${use(all)}`];
  const unknown = (list as string[]).filter((name) => !all.includes(name));
  return unknown.map((name) => `${option} names "${name}", which is no ${kind} of the library. ${use(all)}`);
}

/** Why the application must not start with the mails of a guard, each text with the correction. */
function optionErrors({ mail, languages, nameOf }: GuardConfig, manifests: readonly Feature[]): string[] {
  const { language, accentColor, logo } = mail;
  const kinds = [...mailsOf(manifests).keys()].toSorted();
  return [
    ...unknownNames(nameOf('languages'), languages, LANGUAGES, 'language'),
    typeof language !== 'function' &&
      languageOfTag(String(language)) === null &&
      `${nameOf('mail.language')} is "${String(language)}", for which the library has no mails. ${use(LANGUAGES)}`,
    !/^#[0-9a-f]{6}$/i.test(accentColor) &&
      `${nameOf('mail.accentColor')} is "${accentColor}". Set it to a color of the form #2f45cf.`,
    // Every mail would contain what the address contains, and many mail programs load no other scheme.
    logo !== undefined &&
      urlFault(logo, { production: true }) !== null &&
      `${nameOf('mail.logo')} is no https URL of a picture. Set it to one such as https://example.com/logo.png, without a user name.`,
    ...textErrors(mail.texts, nameOf('mail.texts'), kinds, new Texts(manifests)),
  ].filter((text): text is string => typeof text === 'string');
}

/** Why no mail of a guard could have a name. Extra guards inherit the option, and their users may have no names. */
function recipientNameErrors(users: UserProvider, { mail, isDefault, nameOf }: GuardConfig): (string | false)[] {
  const { recipientName } = mail;
  const option = nameOf('mail.recipientName');
  if (recipientName === undefined || (!isDefault && option === 'mail.recipientName')) return [];
  return [
    typeof recipientName === 'string' &&
      users instanceof TypeormUserProvider &&
      !users.reads(recipientName) &&
      `${option} is "${recipientName}", and the users have no such column that is selected. Name one, or set a function.`,
    !knowsEmailState(users) &&
      `${option} has no effect: a mail has the name if its address is verified, and the users have no such state. Add the ` +
        'column emailVerifiedAt, or implement isEmailVerified in your UserProvider; or remove the option.',
  ];
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
  userErrors: recipientNameErrors,
  events: MAIL_EVENTS,
  limits: {
    'svc-mailed-links': perClient(({ mailedLinks: limit }) => limit),
  },
  mails: { existingAccount: { class: 'requested', onceIn: 'minute', example: { to: EXAMPLE_CHANGE.to } } },
  providers: [MailGate, MailQueue, AccountMails, ExistingAccountMails],
});
