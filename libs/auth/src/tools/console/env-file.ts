import { chmodSync, chownSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { newSecret } from '../../foundation/platform/crypto';
import { CommandRefused } from './command-error';

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

// One character per byte, both ways: text in any encoding comes back as it was.
const BYTES = 'latin1';

/** An existing env file. It is read anew for every use, since a question to the user may come in between. */
export class EnvFile {
  /** @throws Refused where there is no such file: one made here might not be the one the application reads */
  constructor(private readonly path: string) {
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) return;
    throw new CommandRefused(`There is no env file ${path}. Create it, or print a secret with: svc:secret --show`);
  }

  has(name: string): boolean {
    return isSet(readFileSync(this.path, BYTES), name);
  }

  set(name: string, value: string): void {
    replaceFile(this.path, withVariable(readFileSync(this.path, BYTES), name, value));
  }
}

/** Replaces a file in one step, so that a crash leaves the old text or the new and never a part. */
function replaceFile(path: string, text: string): void {
  // A rename onto a symbolic link would replace the link.
  const target = realpathSync(path);
  const { mode, uid, gid } = statSync(target);
  const temporary = `${target}.${newSecret().slice(0, 8)}.tmp`;
  try {
    // Readable by nobody else until it has the file's own mode.
    writeFileSync(temporary, text, { encoding: BYTES, mode: 0o600, flag: 'wx', flush: true });
    // Root would otherwise take the file from the user whose application reads it.
    if (process.getuid?.() === 0) chownSync(temporary, uid, gid);
    chmodSync(temporary, mode);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
