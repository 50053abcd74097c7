/** A random text of 32 bytes in hex or base64 has more of each: fewer have a probability below 1e-20. */
const FEWEST_CHARACTERS = 6;
const FEWEST_GROUPS = 20;
const FEWEST_STEPS = 4;

/**
 * Whether a secret can be guessed although it is long: few different characters (`aaaa…`), few different groups of three
 * characters, as in a repeated word (`secretsecret…`), or few different steps between characters (`abcd…`). For texts of
 * at least 32 bytes; shorter ones are refused for their length.
 */
export function isGuessable(secret: string): boolean {
  const characters = [...secret];
  const groups = characters.slice(2).map((_, i) => characters.slice(i, i + 3).join(''));
  const steps = characters.slice(1).map((one, i) => one.codePointAt(0)! - characters[i]!.codePointAt(0)!);
  return (
    new Set(characters).size < FEWEST_CHARACTERS ||
    // A text of fewer groups has characters of several bytes.
    new Set(groups).size < Math.min(FEWEST_GROUPS, (groups.length * 2) / 3) ||
    new Set(steps).size < FEWEST_STEPS
  );
}
