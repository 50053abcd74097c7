/**
 * The languages and the built-in texts of the library, for a host that replaces texts, and for its tests.
 *
 * ```ts
 * import { LANGUAGES, messageIn } from '@svc/auth/languages';
 * ```
 *
 * @module @svc/auth/languages
 */

export { LANGUAGES, type Language } from '../../foundation/platform/language';
export { messageIn } from '../../foundation/languages/texts';
export type { MessageKey, MessageParams, Translate } from '../../foundation/platform/messages';
export type { MailText, MailTextReplacements, MailTexts, SharedMailTexts } from '../../foundation/ports/mail';
