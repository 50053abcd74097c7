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

/** The data of a mail without a link. */
export interface NoticeMail {
  user: object;
  /** The address of the recipient. */
  to: string;
  appName: string;
}

/** The data of a mail with a link. */
export interface LinkMail extends NoticeMail {
  /** The link. It is a secret: a person who opens it is treated as the owner of the address. */
  url: string;
  /** Lifetime of the link in minutes. */
  minutes: number;
}

/** The data of a mail to the former address of a user. */
export interface EmailChangedMail extends NoticeMail {
  /** The new address, masked: `e***@example.com`. */
  newEmail: string;
  /**
   * The link that undoes the change. It is a secret. Null if the former address was not verified: it may belong to another
   * person.
   */
  url: string | null;
  /** Days for which the link is valid. */
  days: number;
}

/** A mail without its recipient. */
export type MailContent = Omit<Mail, 'to'>;

export type MailTemplate<Data extends NoticeMail = LinkMail> = (mail: Data) => MailContent | Promise<MailContent>;

/** The templates of the library's mails, by kind. */
export interface MailTemplates {
  passwordReset: MailTemplate;
  emailVerification: MailTemplate;
  /**
   * To the owner of an address when a registration (see `registration.concealExisting`) or a change of email contained it.
   */
  existingAccount: MailTemplate<NoticeMail>;
  /** To a new address: the link confirms it. */
  emailChange: MailTemplate;
  /** To the former address, after the change. */
  emailChanged: MailTemplate<EmailChangedMail>;
  /** After a change of the identifier that is not the email. */
  usernameChanged: MailTemplate<NoticeMail>;
}

export type MailKind = keyof MailTemplates;

/** The built-in templates. They are plain text: the page of the host behind the link contains the details. */
export const TEMPLATES: Readonly<MailTemplates> = {
  passwordReset: ({ url, minutes, appName }) => ({
    subject: `Reset your password at ${appName}`,
    text: `A password reset was requested for your account at ${appName}.

Choose a new password within ${minutes} minutes:
${url}

If you did not request it, ignore this mail: nothing has changed.
`,
  }),
  emailVerification: ({ url, minutes, appName }) => ({
    subject: `Confirm your email address for ${appName}`,
    text: `Please confirm that this is your email address, within ${minutes} minutes:
${url}

If you have no account at ${appName}, ignore this mail.
`,
  }),
  existingAccount: ({ appName }) => ({
    subject: `You already have an account at ${appName}`,
    text: `Someone tried to register at ${appName} with this email address, or to change the address of an account to it. It
already has an account.

If it was you, sign in. If you cannot sign in, reset the password.

If it was not you, ignore this mail: nothing has changed.
`,
  }),
  emailChange: ({ url, minutes, appName }) => ({
    subject: `Confirm your new email address for ${appName}`,
    text: `This address was given as the new email address of an account at ${appName}.

Confirm it within ${minutes} minutes:
${url}

If you did not request it, ignore this mail: nothing has changed.
`,
  }),
  emailChanged: ({ newEmail, url, days, appName }) => ({
    subject: `Your email address at ${appName} was changed`,
    text: `The email address of your account at ${appName} is ${newEmail} now. This address is not used any more.

If it was you, ignore this mail.

${
  url === null
    ? 'If it was not you, contact support.'
    : `If it was not you, undo the change within ${days} days. This ends all sessions, and you choose a new password:
${url}`
}
`,
  }),
  usernameChanged: ({ appName }) => ({
    subject: `Your user name at ${appName} was changed`,
    text: `The user name of your account at ${appName} was changed.

If it was you, ignore this mail.

If it was not you, reset your password, and contact support.
`,
  }),
};

/** Adds parameters to a configured URL, which may already have a query. */
export const withQuery = (url: string, params: Readonly<Record<string, string>>): string =>
  `${url}${url.includes('?') ? '&' : '?'}${Object.entries(params)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')}`;
