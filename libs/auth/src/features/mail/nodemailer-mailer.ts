import { AuthConfigError } from '../../foundation/platform/errors';
import { type PeerName, hasPeer, optionalPeer } from '../../foundation/platform/optional-peer';
import { once } from '../../foundation/platform/sweep';
import { type Mail, Mailer } from '../../foundation/ports/mail';

/** The part of a nodemailer transporter that is used. */
interface Transporter {
  sendMail(mail: object): Promise<unknown>;
  verify?(): Promise<unknown>;
}

class NodemailerMailer extends Mailer {
  constructor(
    private readonly transporter: () => Transporter,
    private readonly from: string,
  ) {
    super();
  }

  send(mail: Mail): Promise<unknown> {
    // The address is an object, because nodemailer would parse a text, and an address may look like a list of addresses. Its
    // `headers` have the form of the mail's.
    return this.transporter().sendMail({ ...mail, to: { name: '', address: mail.to }, from: this.from });
  }

  /** Connects to the mail server and signs in. */
  override async verify(): Promise<unknown> {
    return this.transporter().verify?.();
  }
}

type Nodemailer = { createTransport(transport: string | object): Transporter };

/**
 * Makes a `Mailer` that sends mails with nodemailer 7.0.11 or later.
 *
 * @param transport a transporter, or an argument of `createTransport`: an `smtps://` URL or an options object
 * @param from the sender, such as `"Example <no-reply@example.com>"`
 * @throws AuthConfigError when nodemailer is not installed
 * @publicApi
 */
export function nodemailerMailer(
  transport: Transporter | string | object,
  from: string,
  isInstalled: (name: PeerName) => boolean = hasPeer,
): Mailer {
  if (typeof transport === 'object' && 'sendMail' in transport)
    return new NodemailerMailer(() => transport as Transporter, from);
  if (!isInstalled('nodemailer'))
    throw new AuthConfigError('nodemailerMailer() needs nodemailer. Run: npm install nodemailer');
  // Loaded by the first mail, because it takes a tenth of the start of an application with the library.
  const transporter = once(() => optionalPeer<Nodemailer>('nodemailer')!.createTransport(transport));
  return new NodemailerMailer(transporter, from);
}
