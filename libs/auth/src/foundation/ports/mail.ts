import type { Language } from '../platform/language';

/**
 * A complete mail.
 *
 * @publicApi
 */
export interface Mail {
  to: string;
  subject: string;
  text: string;
  html?: string;
}

/**
 * Sends mails. The library calls it after the response, so its duration does not delay the request. An error causes the
 * event `MailFailed`.
 *
 * @publicApi
 */
export abstract class Mailer {
  abstract send(mail: Mail): Promise<unknown>;

  /**
   * Checks without a mail whether mails can be sent, for `npx svc-auth doctor`. Optional.
   *
   * @throws Error with the reason if not
   */
  verify?(): Promise<unknown>;
}

/** The data of every mail. */
export interface MailData {
  user: object;
  /** The address of the recipient. */
  to: string;
  appName: string;
  /** The language of the mail: see `mail.language`. */
  language: Language;
}

/** The data of a mail that reports a change of the account. It has no link. */
export interface NoticeMail extends MailData {
  /** Time of the change. */
  time: Date;
}

/** The data of a mail with a link. */
export interface LinkMail extends MailData {
  /** The link. It is a secret: a person who opens it is treated as the owner of the address. */
  url: string;
  /** Lifetime of the link in minutes. */
  minutes: number;
}

/** The data of a mail about a sign-in on a device that is new for the account. */
export interface NewSignInMail extends LinkMail {
  /** Time of the sign-in. */
  time: Date;
  /** The address of the client; null if it is not known. */
  ip: string | null;
  /** The header `User-Agent`, which the client chooses: escape it. The built-in mail names only known browsers and systems. */
  userAgent: string | null;
}

/** The data of the mail to the former address after a change of the address. */
export interface EmailChangedMail extends NoticeMail {
  /** The new address with its local part shortened: `a…@example.com`. */
  newEmail: string;
  /**
   * The link that undoes the change. It is a secret. Null if the former address was not verified: it may belong to another
   * person.
   */
  url: string | null;
  /** Days for which the link is valid. */
  days: number;
}

/** The data of a mail with a code for a sign-in. */
export interface SignInCodeMail extends MailData {
  /** The code. It is a secret. */
  code: string;
  /** A link that contains the code. It works in the browser that requested the code only. Null if there is none. A secret. */
  url: string | null;
  /** Lifetime of the code and of the link in minutes. */
  minutes: number;
}

/** A mail without its recipient. */
export type MailContent = Omit<Mail, 'to'>;

/**
 * Returns the content of a mail.
 *
 * @param builtIn the content that the library would send, in the language of the mail
 */
export type MailTemplate<Data extends MailData = LinkMail> = (
  mail: Data,
  builtIn: MailContent,
) => MailContent | Promise<MailContent>;

/** The templates of the library's mails, by kind. */
export interface MailTemplates {
  passwordReset: MailTemplate;
  emailVerification: MailTemplate;
  /**
   * To the owner of an address when a registration (see `registration.concealExisting`) or a change of email contained it.
   */
  existingAccount: MailTemplate<MailData>;
  newSignIn: MailTemplate<NewSignInMail>;
  /** To the new address of an account: its link confirms the change. */
  emailChange: MailTemplate;
  /** To the former address of an account. */
  emailChanged: MailTemplate<EmailChangedMail>;
  signInCode: MailTemplate<SignInCodeMail>;
  /** After a change and after a reset of the password. */
  passwordChanged: MailTemplate<NoticeMail>;
  /** After a change of the identifier that is not the email. */
  usernameChanged: MailTemplate<NoticeMail>;
  twoFactorEnabled: MailTemplate<NoticeMail>;
  twoFactorDisabled: MailTemplate<NoticeMail>;
  recoveryCodesReplaced: MailTemplate<NoticeMail>;
  passkeyAdded: MailTemplate<NoticeMail>;
  passkeyRemoved: MailTemplate<NoticeMail>;
  /** After a second factor with `trust_device`: see `twoFactor.trustedDeviceDays`. */
  deviceTrusted: MailTemplate<NoticeMail>;
  accountLocked: MailTemplate<NoticeMail>;
  accountDeleted: MailTemplate<NoticeMail>;
}

export type MailKind = keyof MailTemplates;

/** The data of a kind of mail, without what the library adds to every mail. */
export type MailInput<Kind extends MailKind> = Omit<Parameters<MailTemplates[Kind]>[0], 'appName' | 'language'>;

/** The mails that report a change of an account: see `mail.notices`. */
export const NOTICE_KINDS = [
  'passwordChanged',
  'usernameChanged',
  'twoFactorEnabled',
  'twoFactorDisabled',
  'recoveryCodesReplaced',
  'passkeyAdded',
  'passkeyRemoved',
  'deviceTrusted',
  'accountLocked',
  'accountDeleted',
] as const satisfies readonly MailKind[];

export type NoticeKind = (typeof NOTICE_KINDS)[number];

/**
 * What causes a kind of mail, and whom it informs. The limits follow from it: `mail-limits.policy.ts`.
 *
 * - `requested`: a person who knows an address can cause it, also one without a session.
 * - `security`: informs the owner of an account, and has a link that protects the account.
 * - `notice`: informs the owner of an account about a change. Is mailed to a proved address only.
 */
export type MailClass = 'requested' | 'security' | 'notice';

/** The class of every kind of mail. */
export const MAIL_CLASSES = {
  passwordReset: 'requested',
  emailVerification: 'requested',
  existingAccount: 'requested',
  newSignIn: 'security',
  emailChange: 'requested',
  emailChanged: 'security',
  signInCode: 'requested',
  passwordChanged: 'notice',
  usernameChanged: 'notice',
  twoFactorEnabled: 'notice',
  twoFactorDisabled: 'notice',
  recoveryCodesReplaced: 'notice',
  passkeyAdded: 'notice',
  passkeyRemoved: 'notice',
  deviceTrusted: 'notice',
  accountLocked: 'notice',
  accountDeleted: 'notice',
} as const satisfies { readonly [Kind in MailKind]: Kind extends NoticeKind ? 'notice' : Exclude<MailClass, 'notice'> };

/** Every kind of mail. */
export const MAIL_KINDS = Object.keys(MAIL_CLASSES) as readonly MailKind[];

/**
 * The texts of one kind of mail in one language. `{appName}` and `{to}` are replaced by values of the mail. An empty line
 * separates paragraphs.
 */
export interface MailText {
  /** One line. */
  subject: string;
  /** The heading. */
  title: string;
  /** The paragraphs before the link, the code and the details. */
  body: string;
  /** The same for a mail without the link, where a kind has mails with and without it. */
  bodyWithoutLink?: string;
  /** The label of the link. Required for a kind with a link. */
  link?: string;
  /** The paragraphs after them. */
  note: string;
}

/** The texts that several kinds of mail share. */
export interface SharedMailTexts {
  /** `{duration}` is the lifetime with its unit: `60 minutes`. */
  linkValidity: string;
  codeValidity: string;
  /** In front of the address of a link, below its button. */
  linkAddress: string;
  /** The labels of details. */
  time: string;
  device: string;
  ipAddress: string;
  newEmail: string;
  /** The value of a detail that is not known. */
  unknown: string;
  /** The last line of every mail. */
  footer: string;
}

/** The texts of all mails in one language. */
export interface MailTexts extends Record<MailKind, MailText> {
  shared: SharedMailTexts;
}

/** Texts of the host by language and kind of mail. Each replaces one text of the library. */
export type MailTextReplacements = {
  readonly [Name in Language]?: { readonly [Kind in keyof MailTexts]?: Readonly<Partial<MailTexts[Kind]>> };
};

/** Adds parameters to a configured URL, which may already have a query. */
export const withQuery = (url: string, params: Readonly<Record<string, string>>): string =>
  `${url}${url.includes('?') ? '&' : '?'}${Object.entries(params)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')}`;
