import { fieldText } from './http-text';

/** The languages of the texts of the library. The texts in Portuguese are Brazilian. */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'ja'] as const;

/** A language of the texts of the library, as a primary language subtag (BCP 47). */
export type Language = (typeof LANGUAGES)[number];

/** The language of texts for which no other one is chosen. */
export const DEFAULT_LANGUAGE: Language = 'en';

/**
 * Returns the language for a tag such as `de-AT`, or null: the look-up of RFC 4647 §3.4. The languages have one subtag, so
 * its steps end at the first subtag of the tag. The form of POSIX, `pt_BR.UTF-8`, is accepted too.
 */
export function languageOfTag(tag: string): Language | null {
  const [primary = ''] = fieldText(tag)
    .toLowerCase()
    .split(/[-_.@]/, 1);
  return LANGUAGES.find((language) => language === primary) ?? null;
}

/** Number of language ranges that are read of one header. A browser sends fewer than ten. */
const MAX_RANGES = 30;

/**
 * Returns the language that the header `Accept-Language` prefers (RFC 9110 §12.5.4) among the available ones. Without a
 * header, or if none is accepted, the first available one. Of languages with equal weight, the one that is named first.
 *
 * A range that cannot be read is ignored, and so is `*`, which prefers no language.
 */
export function acceptedLanguage(header: unknown, available: readonly Language[]): Language {
  let [best = DEFAULT_LANGUAGE] = available;
  let highest = 0;
  const ranges = typeof header === 'string' ? header.split(',', MAX_RANGES) : [];
  for (const range of ranges) {
    const [tag = '', ...parameters] = range.split(';');
    const language = languageOfTag(tag);
    const weight = weightOf(parameters);
    if (language === null || !available.includes(language) || weight <= highest) continue;
    [best, highest] = [language, weight];
  }
  return best;
}

/** The weight of a range: 1 without a parameter `q`, 0 for a parameter that is not valid. */
function weightOf(parameters: readonly string[]): number {
  if (!parameters.length) return 1;
  const [, weight] = /^[ \t]*q[ \t]*=[ \t]*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*$/i.exec(parameters.join(';')) ?? [];
  return Number(weight ?? 0);
}
