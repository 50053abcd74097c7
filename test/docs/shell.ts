import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { authOptionsFromEnv } from '@svc/auth';
import { type Block, ROOT } from './blocks';

/** The names against which a command of the documentation is checked. */
export interface KnownNames {
  /** The mounted routes: `POST /auth/login`. */
  routes: readonly string[];
  /** The routes that the page itself defines. */
  ownRoutes?: readonly string[];
  /** The scripts of the application that the page shows. */
  ownScripts?: readonly string[];
  /** The console commands and their flags: `svc:prune --lockout-days`. */
  console: readonly string[];
}

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

const NPM = new Set(['ci', 'install', 'uninstall', 'start', 'test', 'run']);

/** External programs. Their flags are not checked. */
const OTHERS = new Set(['cd', 'cp', 'createdb', 'docker', 'echo', 'git', 'kubectl', 'mkdir', 'npx', 'openssl', 'psql']);

/** The mistakes in a block of shell commands. */
export function mistakesOf({ place, text }: Pick<Block, 'place' | 'text'>, around: KnownNames): string[] {
  return commandsOf(text).flatMap((words) => {
    const mistake = judge(words, around);
    return mistake ? [`${place}: ${mistake}: ${words.join(' ')}`] : [];
  });
}

function judge([program = '', ...words]: string[], around: KnownNames): string | undefined {
  if (program === 'npm') return judgeNpm(words, around);
  if (program === 'curl') return judgeCurl(words, around);
  if (program.startsWith('svc:')) return judgeConsole(program, words, around);
  if (program === 'node') return words[1]?.startsWith('svc:') ? judge(words.slice(1), around) : undefined;
  if (program === 'export') return words.map(judgeVariable).find(Boolean);
  return OTHERS.has(program) ? undefined : 'unknown program';
}

function judgeNpm([verb = '', ...words]: string[], around: KnownNames): string | undefined {
  if (!NPM.has(verb)) return 'unknown npm command';
  if (verb !== 'run') return undefined;
  const [script = '', dashes, command = '', ...flags] = words;
  if (!(script in scripts) && ![...(around.ownScripts ?? []), 'build'].includes(script))
    return 'no such script in package.json';
  return script === 'console' && dashes === '--' ? judgeConsole(command, flags, around) : undefined;
}

function judgeConsole(command: string, words: readonly string[], { console }: KnownNames): string | undefined {
  if (!console.includes(command)) return 'no such console command';
  const flags = words.filter((word) => word.startsWith('-')).map((word) => `${command} ${word.split('=')[0]}`);
  return flags.every((flag) => console.includes(flag)) ? undefined : 'no such flag';
}

/** Refuses a variable with our prefix that no code reads. */
export function judgeVariable(assignment: string): string | undefined {
  const name = assignment.split('=')[0]!;
  const isRead = Object.keys(authOptionsFromEnv({ [name]: '1' })).length > 0;
  return isRead || !name.startsWith('SVC_') ? undefined : 'no such variable';
}

function judgeCurl(words: readonly string[], { routes, ownRoutes = [] }: KnownNames): string | undefined {
  const url = words.find((word) => /^localhost:300[01]\//.test(word));
  if (!url) return 'no request to localhost:3000 or 3001';
  const sends = words.some((word) => ['-d', '--data', '--json'].includes(word));
  const method = words.includes('-X') ? words[words.indexOf('-X') + 1] : sends ? 'POST' : 'GET';
  const requested = `${method} ${url.slice('localhost:300x'.length).split('?')[0]}`;
  const body = words[words.indexOf('-d') + 1] ?? '';
  if (sends && body.startsWith('{')) JSON.parse(body);
  const mounted = [...routes, ...ownRoutes].some((route) =>
    new RegExp(`^${route.replaceAll(/:\w+/g, '[^/]+')}$`).test(requested),
  );
  return mounted ? undefined : 'no such route';
}

/** The words of each command: continued lines are joined, quotes and comments removed. */
const commandsOf = (text: string): string[][] =>
  text
    .replaceAll(/\\\n/g, ' ')
    .split(/\n|&&/)
    .map((line) => [...line.matchAll(/'([^']*)'|"([^"]*)"|(#.*$)|([^\s'"]+=\$\([^)]*\)|[^\s'"]+)/g)])
    .map((words) => words.filter(([, , , comment]) => !comment).map(([, a, b, , c]) => a ?? b ?? c ?? ''))
    .filter((words) => words.length > 0);
