/** A kind of code that people type or paste. */
export interface CodeFormat {
  /** `base32` is that of Crockford: digits and letters without I, L, O and U. */
  readonly alphabet: 'digits' | 'base32';
  /** Number of characters. */
  readonly length: number;
}

const CHARACTERS: Readonly<Record<CodeFormat['alphabet'], RegExp>> = {
  digits: /^[0-9]*$/,
  base32: /^[0-9A-HJKMNP-TV-Z]*$/,
};

/** UTF-16 units of the longest text that is read: two for each character of the longest text field of a request. */
const MOST_UNITS = 510;

/**
 * What people type or paste between the digits of a code: spaces, hyphens and minus signs of every kind, and characters that are
 * not shown, such as marks of the writing direction. Japanese keyboards write U+30FC for a hyphen.
 */
const BETWEEN_DIGITS = /[\s\p{Pd}\p{Dash}\u02D7\u2043\u30FC\p{Default_Ignorable_Code_Point}]/gu;

/** The full stop of a sentence, also in Chinese and Japanese, Urdu and Hindi. */
const LAST_STOP = /[.\u3002\u06D4\u0964]$/u;

const NO_LETTER_OR_DIGIT = /[^\p{L}\p{Nd}]/gu;

const DIGIT = /\p{Nd}/u;

/**
 * Reads a code that a person typed or pasted: a one-time password, a mailed code or a recovery code. Returns it in its only
 * spelling, or null for a text that is no such code. No other function reads typed codes. Pure.
 *
 * - The text is normalized (NFKC), and every decimal digit of Unicode counts by its value: `１２３４５６` and `٣٧١٣٣٣` are codes.
 * - Of digits, separators and a full stop at the end are dropped: `123 456`, `123-456`, `123456.`.
 * - Of base32, everything that is no letter or digit is dropped. Lower case is read as upper case, O as 0, and I and L as 1
 *   (Crockford's Base 32). The codes have none of these three letters, so two codes are never read as one.
 *
 * The length of the text is limited first, and each pattern looks at one character, so the work grows with the length.
 */
export function typedCode(text: string, { alphabet, length }: CodeFormat): string | null {
  if (text.length > MOST_UNITS) return null;
  const plain = text.normalize('NFKC').replaceAll(/\p{Nd}/gu, valueOf);
  const code =
    alphabet === 'digits'
      ? plain.replaceAll(BETWEEN_DIGITS, '').replace(LAST_STOP, '')
      : plain
          .replaceAll(NO_LETTER_OR_DIGIT, '')
          .replaceAll(/[a-z]/g, upper)
          .replaceAll('O', '0')
          .replaceAll(/[IL]/g, '1');
  return code.length === length && CHARACTERS[alphabet].test(code) ? code : null;
}

// Other letters stay: some become two in upper case.
const upper = (letter: string): string => letter.toUpperCase();

/** The value of a digit as an ASCII digit. Unicode encodes decimal digits only as whole series from 0 to 9 (its stability policy). */
function valueOf(digit: string): string {
  const code = digit.codePointAt(0)!;
  let first = code;
  while (DIGIT.test(String.fromCodePoint(first - 1))) first--;
  return String((code - first) % 10);
}
