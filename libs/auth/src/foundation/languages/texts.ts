import type { Language } from '../platform/language';
import { MESSAGES, type MessageKey } from '../platform/messages';
import type { Catalogue } from './catalogue';

/** Loads the texts of a language when they are first used: an application uses few of the languages. */
const LOADERS: Readonly<Record<Language, () => Catalogue>> = {
  en: () => (require('./en') as typeof import('./en')).en,
  de: () => (require('./de') as typeof import('./de')).de,
  fr: () => (require('./fr') as typeof import('./fr')).fr,
  es: () => (require('./es') as typeof import('./es')).es,
  pt: () => (require('./pt') as typeof import('./pt')).pt,
  ja: () => (require('./ja') as typeof import('./ja')).ja,
};

/** Returns the texts of a language. */
export const catalogueOf = (language: Language): Catalogue => LOADERS[language]();

/** Returns a message before its parameters are filled in. English needs no catalogue: its messages are always loaded. */
export const messageIn = (language: Language, key: MessageKey): string =>
  language === 'en' ? MESSAGES[key] : catalogueOf(language).messages[key];

/** Returns the name of a request field in a language. */
export function fieldIn(language: Language, field: string): string {
  if (language === 'en') return field;
  const { fields } = catalogueOf(language);
  return Object.hasOwn(fields, field) ? fields[field]! : field;
}
