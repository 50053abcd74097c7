import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const LOADER = resolve(__dirname, '../support/register-ts.cjs');
const CONSOLE = resolve(__dirname, '../../apps/sample/src/console.ts');
const AS_TERMINAL = resolve(__dirname, 'as-terminal.cjs');

/** An empty directory that the sample's console runs in, in a process of its own. */
export class WorkPlace {
  readonly directory = mkdtempSync(join(tmpdir(), 'svc-console-'));

  /** Runs a command where nobody can be asked. */
  run(...args: string[]) {
    return this.start([], args, '');
  }

  /** Runs a command at a terminal, where `typed` answers its questions. */
  answer(typed: string, ...args: string[]) {
    return this.start(['--require', AS_TERMINAL], args, typed);
  }

  write(text: string | Buffer, name = '.env'): void {
    writeFileSync(this.path(name), text);
  }

  read(name = '.env'): string {
    return readFileSync(this.path(name), 'latin1');
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  get files(): string[] {
    return readdirSync(this.directory);
  }

  remove(): void {
    rmSync(this.directory, { recursive: true });
  }

  private start(flags: string[], args: string[], input: string) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--require', LOADER, ...flags, '--', CONSOLE, ...args],
      { cwd: this.directory, input, encoding: 'utf8', timeout: 30_000 },
    );
    return { status, stdout, stderr };
  }
}
