const LONGEST = 128;

// Control characters, the line and paragraph separators, and what turns the direction of writing: none of them
// may end a line of the log, or show it as another one. Lone surrogates are no text at all.
const HARMFUL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A value as a log takes it: one line of at most 128 characters, whatever a client made of it. */
export const clean = (value: string): string =>
  Array.from(value.slice(0, LONGEST * 2))
    .slice(0, LONGEST)
    .join('')
    .replace(HARMFUL, '?');
