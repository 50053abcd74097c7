import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './blocks';

/** The commands of the console, alone and with each of their flags: `svc:prune --lockout-days`. */
export function consoleCommands(): string[] {
  const folder = join(ROOT, 'libs/auth/src');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.command.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .flatMap((source) => {
      const name = /name: '(svc:[\w-]+)'/.exec(source)![1]!;
      const flags = [...source.matchAll(/flags: '([^']+)'/g)].flatMap(([, given]) => given!.match(/--?[\w-]+/g)!);
      return [name, ...flags.map((flag) => `${name} ${flag}`)];
    });
}
