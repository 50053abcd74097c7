import { chmodSync, chownSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { envName } from '../../foundation/config/env';
import { newSecret } from '../../foundation/platform/crypto';
import { type CommandDeclaration, print, CommandRefused, confirm } from './command';

// The value ends before a comment. A quoted one is matched whole: it may span lines, and a line of it may
// look like an assignment.
const ASSIGNMENT =
  /^([ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=)([ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`)|[^#\r\n]*?(?=[ \t]*(?:[#\r]|$)))/gm;

const unquoted = (value: string): string => value.trim().replace(/^(["'`])([^]*)\1$/, '$2');

/** Whether the text of an env file sets a variable to a value that is not blank. */
export function isSet(text: string, name: string): boolean {
  return [...text.matchAll(ASSIGNMENT)].some(([, , found, value = '']) => found === name && unquoted(value) !== '');
}

/**
 * Sets a variable in the text of an env file. Everything else stays unchanged, byte for byte.
 *
 * Every assignment of the variable changes, because env readers differ in which of several assignments they use.
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

/** One character per byte, so that text in any encoding is written back unchanged. */
export const BYTES = 'latin1';

/** Reads and changes an existing env file. Reads it for every call, because it may change while the user is asked. */
export class EnvFile {
  /** @throws CommandRefused if the file does not exist. A new file might not be the one that the application reads */
  constructor(private readonly path: string) {
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) return;
    throw new CommandRefused(
      `There is no env file ${path}. Create it, or print a secret with: npx svc-auth secret --show`,
    );
  }

  has(name: string): boolean {
    return isSet(readFileSync(this.path, BYTES), name);
  }

  set(name: string, value: string): void {
    replaceFile(this.path, withVariable(readFileSync(this.path, BYTES), name, value));
  }
}

/** Replaces a file atomically, so that a crash leaves either the old or the new text. It keeps its owner and its mode. */
export function replaceFile(path: string, text: string): void {
  // A rename onto a symbolic link would replace the link.
  const target = realpathSync(path);
  const { mode, uid, gid } = statSync(target);
  const temporary = `${target}.${newSecret().slice(0, 8)}.tmp`;
  try {
    // Readable by the owner only, until it gets the mode of the file.
    writeFileSync(temporary, text, { encoding: BYTES, mode: 0o600, flag: 'wx', flush: true });
    // Without this, root would become the owner, and the application's user could not read the file.
    if (process.getuid?.() === 0) chownSync(temporary, uid, gid);
    chmodSync(temporary, mode);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

interface SecretOptions {
  guard?: string;
  show?: boolean;
  force?: boolean;
  env?: string;
}

/** Generates a secret for HS256, and writes it to the env file or prints it. */
export const SECRET: CommandDeclaration = {
  description: 'write a new SVC_SECRET to .env',
  options: {
    '--show': 'print the secret and write nothing',
    '--guard <name>': 'the secret of an extra guard: SVC_{NAME}_SECRET',
    '-f, --force': 'overwrite a secret without a question',
    '--env <path>': 'the file to write to (.env)',
  },
  run: (given) => makeSecret(given as SecretOptions),
};

async function makeSecret(options: SecretOptions): Promise<void> {
  const name = variable(options.guard);
  if (options.show) print(`${newSecret()}\n`);
  else await write(name, options.env || '.env', options.force);
}

function variable(guard: string | undefined): string {
  if (guard === undefined) return 'SVC_SECRET';
  // An empty name, as from an unset shell variable, must not change the secret of the default guard.
  if (/^[\w-]+$/.test(guard)) return `SVC_${envName(guard)}_SECRET`;
  throw new CommandRefused(`"${guard}" is no guard name. Use letters, digits, "_" and "-" only.`);
}

async function write(name: string, path: string, force = false): Promise<void> {
  const file = new EnvFile(path);
  if (!force && file.has(name)) {
    const question =
      `${name} is already set in ${path}. Tokens signed with it stop working, unless it moves to ` +
      `${name.replace(/SECRET$/, 'PREVIOUS_SECRETS')}. Overwrite it?`;
    if (!(await confirm(question))) {
      throw new CommandRefused(`${name} is already set in ${path} and was left as it is. Overwrite it with: --force`);
    }
  }
  file.set(name, newSecret());
  print(`${name} is set in ${path}.\n`);
}
