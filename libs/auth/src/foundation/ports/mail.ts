/**
 * One mail, ready to be sent.
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
 * Sends mails. Called after the request was answered, so it may take its time; a throw becomes `MailFailed`.
 *
 * @publicApi
 */
export abstract class Mailer {
  abstract send(mail: Mail): Promise<unknown>;
}

/** What a mail with a link is made of. */
export interface LinkMail {
  user: object;
  /** The address it goes to. */
  to: string;
  /** The link, a secret: whoever opens it is taken for the owner of the address. */
  url: string;
  /** Minutes the link lives. */
  minutes: number;
  appName: string;
}

/** What a mail says. */
export type MailContent = Omit<Mail, 'to'>;

export type MailTemplate = (mail: LinkMail) => MailContent | Promise<MailContent>;

/** The library's mails by kind. */
export interface MailTemplates {
  passwordReset: MailTemplate;
  emailVerification: MailTemplate;
}

export type MailKind = keyof MailTemplates;

/** The built-in texts. Plain: a page of the host's is one click away, and says the rest. */
export const TEMPLATES: Readonly<MailTemplates> = {
  passwordReset: ({ url, minutes, appName }) => ({
    subject: `Reset your password at ${appName}`,
    text: `Somebody, probably you, asked to reset the password of your account at ${appName}.

Choose a new one here, within ${minutes} minutes:
${url}

If it was not you, ignore this mail: nothing has changed.
`,
  }),
  emailVerification: ({ url, minutes, appName }) => ({
    subject: `Confirm your email address for ${appName}`,
    text: `Please confirm that this is your email address, within ${minutes} minutes:
${url}

If you have no account at ${appName}, ignore this mail.
`,
  }),
};

/** A configured URL with parameters added to whatever query it has. */
export const withQuery = (url: string, params: Readonly<Record<string, string>>): string =>
  `${url}${url.includes('?') ? '&' : '?'}${Object.entries(params)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')}`;
