import { AuthConfigError } from '../../foundation/platform/errors';
import { optionalPeer } from '../../foundation/platform/optional-peer';
import { type Mail, Mailer } from '../../foundation/ports/mail';

/** The part of a nodemailer transporter that is used. */
interface Transporter {
  sendMail(mail: object): Promise<unknown>;
  verify?(): Promise<unknown>;
}

class NodemailerMailer extends Mailer {
  constructor(
    private readonly transporter: Transporter,
    private readonly from: string,
  ) {
    super();
  }

  send(mail: Mail): Promise<unknown> {
    // As an object, because nodemailer would parse a text, and an address may look like a list of addresses.
    return this.transporter.sendMail({ ...mail, to: { name: '', address: mail.to }, from: this.from });
  }

  /** Connects to the mail server and signs in. */
  override async verify(): Promise<unknown> {
    return this.transporter.verify?.();
  }
}

/**
 * Makes a `Mailer` that sends mails with nodemailer 9.1 or later.
 *
 * @param transport a transporter, or an argument of `createTransport`: an `smtps://` URL or an options object
 * @param from the sender, such as `"Example <no-reply@example.com>"`
 * @throws AuthConfigError when nodemailer is not installed
 * @publicApi
 */
export function nodemailerMailer(
  transport: Transporter | string | object,
  from: string,
  load = optionalPeer<{ createTransport(transport: string | object): Transporter }>,
): Mailer {
  if (typeof transport === 'object' && 'sendMail' in transport)
    return new NodemailerMailer(transport as Transporter, from);
  const library = load('nodemailer');
  if (!library) throw new AuthConfigError('nodemailerMailer() needs nodemailer. Run: npm install nodemailer');
  return new NodemailerMailer(library.createTransport(transport), from);
}
