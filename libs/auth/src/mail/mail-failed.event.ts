import type { MailKind } from './mail-templates';

/**
 * A mail could not be prepared or sent. Its reader was answered as if it had been. Worth an alarm: nobody can
 * reset a password while it lasts.
 *
 * @publicApi
 */
export class MailFailed {
  constructor(
    readonly kind: MailKind,
    readonly guard: string,
    /** What was thrown. A mail server's answer may quote the address: do not log it as it is. */
    readonly error: unknown,
  ) {}
}
