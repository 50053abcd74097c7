/** Longer ones are sentences. */
const MAX_LENGTH = 60;

/** What names are written with: letters of every script, and their marks, initials and numbers. No `@`, `:`, `/`, `<` or emoji. */
const WRITTEN = /^\p{L}(?:[\p{L}\p{M}\p{Nd} '’ʼ"“”&.,()·・‐-]|\u200c|\u200d)*$/u;

/** A mail program makes a link of a host without a scheme, and of a phone number. `J. R. R.` and `J.R.R.` are initials. */
const LINKED = /\.[^\s.]{2}|(?:\p{Nd}\P{Nd}*){4}/u;

/**
 * The name of a user for a mail; null for a text that is no name. Pure. The user has chosen the text, and the mail has the sender
 * and the look of the application: a name must not carry a link, a line break or a message. So such a text is left out as a
 * whole. Without its link, the rest of it would still be a message.
 */
export function nameInMail(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  // NFKC, because mail programs read other forms of a dot, too. The other invisible characters have no use in a name.
  const name = text
    .slice(0, 1000)
    .normalize('NFKC')
    .replaceAll(/(?![\u200c\u200d\p{Cc}])\p{C}/gu, '')
    .replaceAll(/[\p{Cc}\p{Z}]+/gu, ' ')
    .trim();
  return [...name].length <= MAX_LENGTH && WRITTEN.test(name) && !LINKED.test(name) ? name : null;
}
