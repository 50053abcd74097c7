import type { Language } from './language';

/** The text of every outcome of the API. `{name}` is replaced by a parameter of the outcome. */
export const MESSAGES = {
  'auth.unauthenticated': 'Authentication is required.',
  'auth.refresh_failed': 'The session could not be renewed. Please sign in again.',
  'auth.wrong_credentials': 'These credentials do not match our records.',
  'auth.wrong_password': 'The password is not correct.',
  'auth.wrong_code': 'The code is not correct.',
  'auth.wrong_email_code': 'This code is not correct, or not valid any more.',
  'auth.one_factor_only': 'Give one second factor, not several.',
  'auth.bad_challenge': 'This sign-in has expired. Please start again.',
  'auth.bad_enrolment': 'This sign-in has expired, or a second factor was set up. Please start again.',
  'auth.second_factor_required': 'This account must have a second factor. Set up another one first.',
  'auth.already_enrolled': 'Two-factor authentication is already enabled.',
  'auth.unusable_secret': 'The secret must be base32 of 10 to 64 bytes, for SHA-1, six digits and 30 seconds.',
  'auth.unusable_hash': 'This hash is not of a kind that can be verified.',
  'auth.not_enrolled': 'Two-factor authentication is not enabled.',
  'auth.insufficient_scope': 'This needs the ability {abilities}.',
  'auth.confirmation_required': 'Please confirm your identity to continue.',
  'auth.recent_login_required': 'Please sign in again to continue.',
  'auth.factor_required': 'Please sign in with a second factor to continue.',
  'auth.confirm_with_passkey': 'Please confirm with your passkey.',
  'auth.sign_in_refused': 'This account may not sign in. Please contact support.',
  'auth.unusable_claim': 'Tokens cannot be issued for this account. Please contact support.',
  'auth.unverified_login': 'Please verify your email address before you sign in.',
  'auth.email_unverified': 'Your email address is not verified.',
  'auth.passkey_not_verified': 'The passkey could not be verified.',
  'auth.passkey_not_registered': 'The passkey could not be registered.',
  'auth.passkey_not_yours': 'This passkey belongs to another account.',
  'auth.last_passkey': 'This is your only way to sign in. Set a password or add another passkey first.',
  'auth.no_session': 'This token belongs to no session, so there is nothing to end.',
  'auth.foreign_page': 'This request comes from another site.',
  'auth.not_found': 'There is nothing here.',
  'auth.throttled': 'Too many attempts. Please try again in {seconds} seconds.',
  'auth.locked': 'This account is locked. Please contact support.',
  'auth.locked_for': 'This account is locked. Please try again in {seconds} seconds.',
  'auth.reset_failed': 'This link to reset the password is not valid any more. Please ask for a new one.',
  'auth.email_change_failed': 'This link to change the email address is not valid any more. Please ask for a new one.',
  'auth.former_email_taken': 'Another account has this email address now. Please contact support.',
  'auth.report_failed':
    'This link is not valid any more. If you do not know the sign-in, reset your password and end all sessions.',
  'auth.bad_link': 'This link is not valid, or not any more.',
  'auth.outdated_link': 'This link is for another email address.',
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

/** The key of an outcome. A translate function receives it. */
export type MessageKey = keyof typeof MESSAGES;

export type MessageParams = Readonly<Record<string, string | number>>;

/** The text of an outcome before its translation. */
export interface Text {
  readonly key: MessageKey;
  readonly params?: MessageParams;
}

/**
 * Renders the text of one outcome.
 *
 * @param request the current request; the host can choose the language by it
 * @param text the built-in text, in the language that is chosen by the option `languages`
 */
export type Translate = (key: MessageKey, params: MessageParams, request: unknown, text: string) => string;

/** Renders texts for one client. */
export interface Translator {
  (key: MessageKey, params: MessageParams): string;
  /** The language of the texts, where the option `languages` chooses it. */
  readonly language?: Language;
  /** Whether another client may get another language. */
  readonly isNegotiated?: boolean;
}

/** Replaces `{name}` by `params.name`. Unknown names stay unchanged. */
export const fill = (template: string, params: MessageParams): string =>
  template.replace(/\{(\w+)\}/g, (whole, name: string) => String(params[name] ?? whole));

/** The built-in English texts. */
export const inEnglish: Translator = (key, params) => fill(MESSAGES[key], params);
