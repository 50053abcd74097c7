import type { Language } from '../platform/language';
import type { CoreMessageKey, MessageKey } from '../platform/messages';
import type { MailKind, MailText, MailTexts, SharedMailTexts } from '../ports/mail';

/** All texts of the library in one language. */
export interface Catalogue {
  readonly messages: Readonly<Record<MessageKey, string>>;
  /** Names of request fields in messages, by the name in the English message. A field without a name keeps it. */
  readonly fields: Readonly<Record<string, string>>;
  readonly mails: Readonly<MailTexts>;
}

/** The texts in one language that belong to no feature. */
export interface CoreTexts extends Pick<Catalogue, 'fields'> {
  readonly messages: Readonly<Record<CoreMessageKey, string>>;
  readonly shared: SharedMailTexts;
  /** The texts of a mail that has none of its own: what a recipient does who has not caused the mail. */
  readonly notYou: NotYouTexts;
}

type NotYouTexts = Pick<MailText, 'preheader' | 'note'>;

export type FeatureMailText = Omit<MailText, keyof NotYouTexts> & Partial<NotYouTexts>;

/** The texts of a feature in one language. */
export interface FeatureTexts extends Partial<Pick<Catalogue, 'fields'>> {
  readonly messages?: Readonly<Partial<Record<MessageKey, string>>>;
  readonly mails?: { readonly [Kind in MailKind]?: FeatureMailText };
}

export interface WithMessages<Key extends MessageKey> extends FeatureTexts {
  readonly messages: Readonly<Record<Key, string>>;
}

export interface WithMails<Kind extends MailKind> extends FeatureTexts {
  readonly mails: Readonly<Record<Kind, FeatureMailText>>;
}

export type InEachLanguage<Texts extends FeatureTexts = FeatureTexts> = Readonly<Record<Language, Texts>>;
