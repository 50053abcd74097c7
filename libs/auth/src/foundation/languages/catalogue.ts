import type { MessageKey } from '../platform/messages';
import type { MailTexts } from '../ports/mail';

/** All texts of the library in one language. */
export interface Catalogue {
  readonly messages: Readonly<Record<MessageKey, string>>;
  /** Names of request fields in messages, by the name in the English message. A field without a name keeps it. */
  readonly fields: Readonly<Record<string, string>>;
  readonly mails: Readonly<MailTexts>;
}
