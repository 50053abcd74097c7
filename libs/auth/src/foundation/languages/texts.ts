import { DEFAULT_LANGUAGE, type Language } from '../platform/language';
import { type CoreMessageKey, MESSAGES, type MessageKey } from '../platform/messages';
import type { MailTexts } from '../ports/mail';
import type { Catalogue, CoreTexts, FeatureMailText, InEachLanguage } from './catalogue';

/** Loads the texts of a language when they are first used: an application uses few of the languages. */
const LOADERS: Readonly<Record<Language, () => CoreTexts>> = {
  en: () => (require('./en') as typeof import('./en')).en,
  de: () => (require('./de') as typeof import('./de')).de,
  fr: () => (require('./fr') as typeof import('./fr')).fr,
  es: () => (require('./es') as typeof import('./es')).es,
  pt: () => (require('./pt') as typeof import('./pt')).pt,
  ja: () => (require('./ja') as typeof import('./ja')).ja,
};

/** What a feature states of its texts. */
export interface StatedTexts {
  /** Loads the texts of the feature in each language, those of the mails in English, too. */
  readonly languages?: () => InEachLanguage;
}

/** The texts of the library: those of the core, and those of the features. */
export class Texts {
  private readonly catalogues = new Map<Language, Catalogue>();

  constructor(private readonly features: readonly StatedTexts[] = []) {}

  /** The texts of a language. They are loaded when they are first used. */
  in(language: Language): Catalogue {
    const loaded = this.catalogues.get(language) ?? this.load(language);
    this.catalogues.set(language, loaded);
    return loaded;
  }

  /**
   * Returns a message before its parameters are filled in.
   *
   * @param english the English text of a message of a feature. English needs no catalogue then
   */
  message(language: Language, key: MessageKey, english: string | undefined = MESSAGES[key as CoreMessageKey]): string {
    return (language === DEFAULT_LANGUAGE ? english : undefined) ?? this.in(language).messages[key];
  }

  /** Returns the name of a request field in a language. */
  field(language: Language, field: string): string {
    if (language === DEFAULT_LANGUAGE) return field;
    const { fields } = this.in(language);
    return Object.hasOwn(fields, field) ? fields[field]! : field;
  }

  private load(language: Language): Catalogue {
    const { messages, fields, shared, notYou } = LOADERS[language]();
    const stated = this.features.flatMap(({ languages }) => languages?.()[language] ?? []);
    const mails = stated
      .flatMap((texts) => Object.entries<FeatureMailText>(texts.mails ?? {}))
      .map(([kind, text]) => [kind, { ...notYou, ...text }]);
    return {
      messages: Object.assign({}, messages, ...stated.map((texts) => texts.messages)) as Catalogue['messages'],
      fields: Object.assign({}, fields, ...stated.map((texts) => texts.fields)) as Catalogue['fields'],
      mails: { ...Object.fromEntries(mails), shared } as MailTexts,
    };
  }
}
