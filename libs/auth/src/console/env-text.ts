// The value ends before a comment. A quoted one is matched whole: it may span lines, and a line of it may
// look like an assignment.
const ASSIGNMENT =
  /^([ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=)([ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`)|[^#\r\n]*?(?=[ \t]*(?:[#\r]|$)))/gm;

const unquoted = (value: string): string => value.trim().replace(/^(["'`])([^]*)\1$/, '$2');

/** Whether an env file's text gives a variable a value; a blank one is none. */
export function isSet(text: string, name: string): boolean {
  return [...text.matchAll(ASSIGNMENT)].some(([, , found, value = '']) => found === name && unquoted(value) !== '');
}

/**
 * An env file's text with a variable set, everything else byte for byte as it was.
 *
 * Every assignment of the variable changes: env readers disagree on which of several counts.
 */
export function withVariable(text: string, name: string, value: string): string {
  let found = false;
  const replaced = text.replace(ASSIGNMENT, (whole: string, head: string, candidate: string) => {
    if (candidate !== name) return whole;
    found = true;
    return head + value;
  });
  if (found) return replaced;

  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const open = text !== '' && !text.endsWith('\n');
  return `${text}${open ? newline : ''}${name}=${value}${newline}`;
}
