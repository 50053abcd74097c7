/** A random text of 32 bytes in hex or base64 has more of each: fewer have a probability below 1e-20. */
const FEWEST_CHARACTERS = 6;
const FEWEST_GROUPS = 20;
const FEWEST_STEPS = 4;

/** Secrets of at least 32 bytes from widely copied examples: jwt.io, Supabase, the manual of Nest, RFC 7515, a Spring tutorial. */
const PUBLISHED: readonly string[] = [
  'a-string-secret-at-least-256-bits-long',
  'a-valid-string-secret-that-is-at-least-384-bits-long',
  'a-valid-string-secret-that-is-at-least-512-bits-long-which-is-very-long',
  'super-secret-jwt-token-with-at-least-32-characters-long',
  'your-super-secret-jwt-token-with-at-least-32-characters-long',
  'do not use this value. instead, create a complex secret and keep it safe outside of the source code.',
  'aym1syspppbydfgzld3umj1qzkobwvmkoqq-estjqlr_t-1qs0gzh75aktmn3yj0ips4hcuuttwjazzr1z9cakow',
  '404e635266556a586e3272357538782f413f4428472b4b6250645367566b5970',
];

/** Whether a text begins to repeat itself after at most half of its length. The last repetition may be incomplete. */
function isRepeated(text: string): boolean {
  for (let period = 1; period <= text.length / 2; period++) {
    if (text.startsWith(text.slice(period))) return true;
  }
  return false;
}

/**
 * Whether a secret can be guessed although it is long: few different characters (`aaaa…`), a repeated unit of any length,
 * few different groups of three characters, as in a short unit with an ending (`secretsecret…!`), few different steps
 * between characters (`abcd…`), or a well-known published example. Other phrases that an attacker may know are not found.
 * For texts of at least 32 bytes; shorter ones are refused for their length.
 */
export function isGuessable(secret: string): boolean {
  if (isRepeated(secret) || PUBLISHED.includes(secret.trim().toLowerCase())) return true;
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
