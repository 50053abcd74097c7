/** What a password is measured by, besides the lists of known ones. */
export interface PasswordMeasure {
  readonly minLength: number;
  /** Texts that are no secret: who signs in, what the application is called. */
  readonly known: readonly string[];
}

/** Why a password is refused before any list is asked. */
export type PasswordFault = 'unstorable' | 'too_short' | 'too_long' | 'known';

/** Longest password in characters. A login takes no more: a longer one could be set and never be used. */
export const PASSWORD_MAX = 255;

/**
 * Judges a new password by itself (NIST SP 800-63B §3.1.1.2). Any composition will do: a passphrase in lower
 * case, emoji, spaces at either end.
 */
export function passwordFault(password: string, { minLength, known }: PasswordMeasure): PasswordFault | null {
  // Hashing libraries end a text here, or refuse it.
  if (password.includes('\0')) return 'unstorable';
  if (lengthOf(password) < minLength) return 'too_short';
  if (lengthOf(password) > PASSWORD_MAX) return 'too_long';
  const bare = lettersOf(password);
  return known.flatMap(namesIn).some((name) => name !== '' && name === bare) ? 'known' : null;
}

/** Characters as Unicode counts them: an emoji is one and not two. */
export const lengthOf = (text: string): number => [...text].length;

/** What a list of common passwords is asked for. A password written backwards is as common as it is forwards. */
export function spellings(password: string): string[] {
  const folded = password.toLowerCase();
  return [folded, [...folded].toReversed().join('')];
}

/** An email address is known by what stands before the @, too. */
const namesIn = (text: string): string[] => [text, text.split('@', 1)[0]!].map(lettersOf);

/** Case, spaces and punctuation make no other name. */
const lettersOf = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
