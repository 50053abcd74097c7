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
  /**
   * Header fields by name, which a mailer passes on. Every mail of the library has `Auto-Submitted: auto-generated` (RFC 3834 §5), so
   * that no program answers it. The values are constant.
   */
  headers?: Readonly<Record<string, string>>;
}

/** The header fields of every mail. A mail about an account is no mail of a list, so it has no `List-Unsubscribe` (RFC 8058). */
export const MAIL_HEADERS = { 'Auto-Submitted': 'auto-generated' } as const;

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
  /** The name of the user, where `mail.recipientName` names it and the address is proved. The user has chosen it: escape it in HTML. */
  name?: string;
}

/** The data of a mail that reports a change of the account. It has no link. */
export interface ReportMail extends MailData {
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

/** A mail without its recipient and its headers: a template can set neither of them. */
export type MailContent = Omit<Mail, 'to' | 'headers'>;

/**
 * Returns the content of a mail.
 *
 * @param builtIn the content that the library would send, in the language of the mail
 */
export type MailTemplate<Data extends MailData = LinkMail> = (
  mail: Data,
  builtIn: MailContent,
) => MailContent | Promise<MailContent>;

/**
 * The mails that a person who knows an address can cause, also one without a session. A feature adds its kinds of mails by
 * merging into this interface or into one of the next two.
 */
export interface RequestedMails {}

/** The mails that inform the owner of an account, and have a link that protects the account. */
export interface SecurityMails {}

/** The mails that report a change of an account, to a proved address only: see `mail.notices`. */
export interface ChangeMails {}

export type ChangeTemplate = MailTemplate<ReportMail>;

/** The templates of the library's mails, by kind. */
export interface MailTemplates extends RequestedMails, SecurityMails, ChangeMails {}

export type MailKind = keyof MailTemplates;

/** The data of a kind of mail, without what the library adds to every mail. */
export type MailInput<Kind extends MailKind> = Omit<
  Parameters<MailTemplates[Kind]>[0],
  'appName' | 'language' | 'name'
>;

export type ChangeKind = keyof ChangeMails;

/** What causes a kind of mail, and whom it informs. The limits follow from it: `mail-limits.policy.ts`. */
export type MailClass = 'requested' | 'security' | 'change';

/** The class of a kind: see {@link RequestedMails}, {@link SecurityMails}, {@link ChangeMails}. */
export type MailClassOf<Kind extends MailKind> = Kind extends keyof RequestedMails
  ? 'requested'
  : Kind extends keyof SecurityMails
    ? 'security'
    : 'change';

/** What a feature states of a kind of mail. */
export interface StatedMail<Kind extends MailKind = MailKind> {
  readonly class: MailClassOf<Kind>;
  /** The time in which a mailbox gets one mail of the kind, where it is not that of the class. */
  readonly onceIn?: 'minute' | 'hour';
  /** The data of a preview. Their links lead nowhere. */
  readonly example: Omit<MailInput<Kind>, 'user'>;
}

export type StatedMails = { readonly [Kind in MailKind]?: StatedMail<Kind> };

export const EXAMPLE_CHANGE = { to: 'ada@example.com', time: new Date('2026-11-25T14:03:00Z') };

export const EXAMPLE_LINK = {
  to: EXAMPLE_CHANGE.to,
  url: 'https://app.example.com/example?token=8e2d1c40b7a94f6f9c1be3a05d7724f1',
  minutes: 60,
};

/** A mail that reports a change. */
export const CHANGE_MAIL: StatedMail<ChangeKind> = { class: 'change', example: EXAMPLE_CHANGE };

/**
 * The texts of one kind of mail in one language. `{appName}` and `{to}` are replaced by values of the mail. An empty line
 * separates paragraphs.
 */
export interface MailText {
  /** One line. */
  subject: string;
  /** What to do, for the list of a mail program, which shows it beside the subject. The HTML has it as a hidden text. */
  preheader: string;
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
  /** The first line of a mail with the name of the user, which replaces `{name}`. */
  greeting: string;
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
