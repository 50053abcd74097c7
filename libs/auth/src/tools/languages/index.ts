/**
 * The languages and the built-in texts of the library, for a host that replaces texts, and for its tests.
 *
 * ```ts
 * import { LANGUAGES, messageIn } from '@svc/auth/languages';
 * ```
 *
 * @module @svc/auth/languages
 */

export type {} from '../../features';
import { FEATURES } from '../../features';
import { Texts } from '../../foundation/languages/texts';
import type { Language } from '../../foundation/platform/language';
import type { MessageKey } from '../../foundation/platform/messages';

export { LANGUAGES, type Language } from '../../foundation/platform/language';
export type { MessageKey, MessageParams, Translate } from '../../foundation/platform/messages';
export type { MailText, MailTextReplacements, MailTexts, SharedMailTexts } from '../../foundation/ports/mail';

const LIBRARY = new Texts(FEATURES);

/** Returns a message before its parameters are filled in. */
export const messageIn = (language: Language, key: MessageKey): string => LIBRARY.message(language, key);
