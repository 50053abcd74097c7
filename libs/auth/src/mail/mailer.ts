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
