/** The rules for a password, apart from the lists of known passwords. */
export interface PasswordMeasure {
  readonly minLength: number;
  /** Texts that are not secret: identifier and email of the account, and the name of the application. */
  readonly known: readonly string[];
}

/** The reason for refusing a password before the lists are read. */
export type PasswordFault = 'unstorable' | 'too_short' | 'too_long' | 'known';

/** Longest password in characters. A login accepts no longer password, so a longer one could never be used. */
export const PASSWORD_MAX = 255;

/**
 * Checks length and known texts of a new password (NIST SP 800-63B §3.1.1.2). Any composition is accepted: a passphrase
 * in lower case, emoji, spaces at either end.
 */
export function passwordFault(password: string, { minLength, known }: PasswordMeasure): PasswordFault | null {
  // Hashing libraries truncate a text at a NUL, or refuse it.
  if (password.includes('\0')) return 'unstorable';
  if (lengthOf(password) < minLength) return 'too_short';
  if (lengthOf(password) > PASSWORD_MAX) return 'too_long';
  const bare = lettersOf(password);
  return known.flatMap(namesIn).some((name) => name !== '' && name === bare) ? 'known' : null;
}

/** Length in Unicode code points: an emoji outside the basic plane counts as one, not two. */
export const lengthOf = (text: string): number => [...text].length;

/** A text in the form in which passwords are compared with lists: compatible characters and upper case are no difference. */
export const foldedPassword = (text: string): string => text.normalize('NFKC').toLowerCase();

/** The spellings to look up in a list of common passwords: in lower case, forwards and backwards. */
export function spellings(password: string): string[] {
  const folded = foldedPassword(password);
  return [folded, [...folded].toReversed().join('')];
}

/** The texts to compare with: the whole text, and the part before the @ of an email address. */
const namesIn = (text: string): string[] => [text, text.split('@', 1)[0]!].map(lettersOf);

/** Removes the differences of case, spaces and punctuation. */
const lettersOf = (text: string): string => foldedPassword(text).replaceAll(/[^\p{L}\p{N}]/gu, '');
