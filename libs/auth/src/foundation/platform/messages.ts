import type { Language } from './language';

/** The texts of outcomes that belong to no feature. `{name}` is replaced by a parameter of the outcome. */
export const MESSAGES = {
  'auth.unauthenticated': 'Authentication is required.',
  'auth.insufficient_scope': 'This needs the ability {abilities}.',
  'auth.sign_in_refused': 'This account may not sign in. Please contact support.',
  'auth.unusable_claim': 'Tokens cannot be issued for this account. Please contact support.',
  'auth.foreign_page': 'This request comes from another site.',
  'auth.not_found': 'There is nothing here.',
  'auth.throttled': 'Too many attempts. Please try again in {seconds} seconds.',
  'auth.locked': 'This account is locked. Please contact support.',
  'auth.locked_for': 'This account is locked. Please try again in {seconds} seconds.',
  'password.unstorable': 'The password contains a character that cannot be part of a password.',
  'password.too_short': 'The password must have at least {min} characters.',
  'password.too_long': 'The password must not be longer than {max} characters.',
  'password.known': 'The password must not be your own name or email, nor the name of this service.',
  'password.common': 'This password is one of the most common ones. Please choose another one.',
  'password.breached': 'This password became known in a data breach. Please choose another one.',
  'password.unconfirmed': 'The two passwords are not the same.',
  'password.unchanged': 'The new password must differ from the current one.',
  'request.unreadable': 'The request cannot be read.',
  'request.too_large': 'The request is too large.',
  'request.unsupported': 'The type or encoding of the request is not supported.',
  'server.unavailable': 'The service is temporarily unavailable. Please try again shortly.',
  'server.busy': 'The service is busy. Please try again in {seconds} seconds.',
  'server.error': 'Something went wrong on our side.',
  'validation.required': 'The {field} field is required.',
  'validation.string': 'The {field} field must be a string.',
  'validation.object': 'The {field} field must be an object.',
  'validation.array': 'The {field} field must be a list.',
  'validation.max_items': 'The {field} field must not have more than {max} items.',
  'validation.max_length': 'The {field} field must not be longer than {max} characters.',
  'validation.email': 'The {field} field must be an email address.',
  'validation.taken': 'This {field} is taken.',
  'validation.invalid': 'The {field} field is invalid.',
  'validation.more': '{message} (and {count} more {errors})',
} as const;

export type CoreMessageKey = keyof typeof MESSAGES;

/** The texts of features, by key. Each feature adds its own by merging into this interface. */
export interface FeatureMessages {}

/** The key of an outcome. A translate function receives it. */
export type MessageKey = CoreMessageKey | keyof FeatureMessages;

export type MessageParams = Readonly<Record<string, string | number>>;

/** The text of an outcome before its translation. That of a feature contains its English text. */
export type Text = { readonly params?: MessageParams } & (
  | { readonly key: CoreMessageKey; readonly english?: undefined }
  | { readonly key: MessageKey; readonly english: string }
);

/** Makes the texts of a feature from its messages in English. */
export const featureTexts =
  <Key extends keyof FeatureMessages>(messages: Readonly<Record<Key, string>>) =>
  (key: Key, params?: MessageParams): Text => ({ key, english: messages[key], ...(params && { params }) });

/**
 * Renders the text of one outcome.
 *
 * @param request the current request; the host can choose the language by it
 * @param text the built-in text, in the language that is chosen by the option `languages`
 */
export type Translate = (key: MessageKey, params: MessageParams, request: unknown, text: string) => string;

/** Renders texts for one client. */
export interface Translator {
  (key: MessageKey, params: MessageParams, english?: string): string;
  /** The language of the texts, where the option `languages` chooses it. */
  readonly language?: Language;
  /** Whether another client may get another language. */
  readonly isNegotiated?: boolean;
}

/** Replaces `{name}` by `params.name`. Unknown names stay unchanged. */
export const fill = (template: string, params: MessageParams): string =>
  template.replace(/\{(\w+)\}/g, (whole, name: string) => String(params[name] ?? whole));

/** The built-in English text of an outcome: that of a feature is `english`. */
export const inEnglish: Translator = (key, params, english) => fill(english ?? MESSAGES[key as CoreMessageKey], params);
