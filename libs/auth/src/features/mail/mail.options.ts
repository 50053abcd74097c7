import {
  type OptionTree,
  type TableOf,
  type WithDefaults,
  rateLimit,
  value,
} from '../../foundation/config/option-table';
import type { MailTemplates, MailTextReplacements, Mailer } from '../../foundation/ports/mail';

/** What each mail of the library needs. */
export interface SentMailOptions {
  /**
   * Sends the mails: `nodemailerMailer(transport, from)`, or the host's own mailer.
   *
   * @default none
   */
  mailer?: Mailer;

  /**
   * Language of the mails: one for all users, or a function that returns the language of a user, such as
   * `(user) => (user as User).locale`. `de-AT` stands for `de`. The library has texts in `en`, `de`, `fr`, `es`, `pt` (Brazilian) and
   * `ja`; a user with another language, or with none, gets English. So does a user for whom the function fails, and a line is
   * logged. The function is called after the response, for at most 30 seconds.
   *
   * @default 'en'
   */
  language?: string | MailLanguage;

  /**
   * Texts that replace built-in ones, by language and kind:
   * `{ de: { passwordReset: { subject: 'Neues Passwort für {appName}' } } }`. The texts that all kinds share are under
   * `shared`.
   *
   * @default {}
   */
  texts?: MailTextReplacements;

  /**
   * Functions that return the content of the mails by kind. Their second parameter is the built-in content:
   * `(mail, builtIn) => ({ ...builtIn, subject: 'Hello' })`.
   *
   * @default {}
   */
  templates?: Partial<MailTemplates>;

  /**
   * Address of a picture at the top of the HTML, in place of the name of the application: an https URL, the same in every mail. Its
   * height is 40 pixels. Without it, a mail loads nothing. The name is its alternative text, for mail programs that block pictures.
   *
   * @default none
   */
  logo?: string;

  /**
   * Name of the user, with which the mails begin: the column of the entity, or the property of the user that your provider returns;
   * or a function that returns the name, such as `(user) => (user as User).profile.firstName`, and has the time of `mail.language`. A mail
   * has the name only if its address is verified and is that of the user. A text with a link, a phone number or more than 60
   * characters is no name.
   *
   * @default none
   */
  recipientName?: string | MailLanguage;

  /**
   * Color of the buttons in HTML, as `#rrggbb`. Their text is black or white, so that it stays legible.
   *
   * @default '#2f45cf'
   */
  accentColor?: string;
}

/** The library's mails. Needed by the features that send mails: see `docs/mail.md`. Features add their options. */
export interface MailOptions extends SentMailOptions {}

/**
 * Returns the language of a user's mails, or the name of the user; null for a user without one.
 *
 * @param user the user. For `accountDeleted`, the user before the deletion
 */
export type MailLanguage = (
  user: object,
  context: { guard: string },
) => string | null | undefined | Promise<string | null | undefined>;

declare module '../../foundation/config/auth-options' {
  interface RateLimitsOptions {
    /**
     * The routes that act by the token of a mailed link and have no limit of their own, together: the confirmation and the undo of a
     * change of the email, and the report of a sign-in.
     *
     * @default { maxAttempts: 12, decaySeconds: 60 }
     * @env SVC_MAILED_LINKS_MAX_ATTEMPTS, SVC_MAILED_LINKS_DECAY
     */
    mailedLinks?: RateLimit;
  }
}

declare module '../../foundation/config/auth-config' {
  interface GuardConfig {
    readonly mail: WithDefaults<MailOptions, 'mailer' | 'logo' | 'recipientName'>;
  }
}

export const MAIL_OPTIONS = {
  rateLimits: { mailedLinks: rateLimit('MAILED_LINKS', { maxAttempts: 12, decaySeconds: 60 }) },
  mail: {
    mailer: value(),
    language: value({ default: 'en' }),
    texts: value({ default: {} }),
    templates: value({ default: {} }),
    logo: value(),
    recipientName: value(),
    accentColor: value({ default: '#2f45cf' }),
  } satisfies TableOf<SentMailOptions>,
} satisfies OptionTree;
