import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { main } from '../../apps/sample/src/console';
import { type Ended, runInProcess } from './in-process';

const LOADER = resolve(__dirname, '../support/runtime/register-ts.cjs');
const CONSOLE = resolve(__dirname, '../../apps/sample/src/console.ts');
const AS_TERMINAL = resolve(__dirname, 'as-terminal.cjs');

/** An empty directory in which the sample's console runs. */
export class WorkingDirectory {
  readonly directory = mkdtempSync(join(tmpdir(), 'svc-console-'));

  /** Runs a command without a terminal. */
  run(...args: string[]): Promise<Ended> {
    return runInProcess(main, args, this);
  }

  /** Runs a command at a terminal. `typed` is the input. */
  answer(typed: string, ...args: string[]): Promise<Ended> {
    return runInProcess(main, args, { ...this, typed });
  }

  /** Runs a command in its own process, at a terminal if `typed` is given. */
  start(args: string[], typed?: string): Promise<Ended> {
    return this.startFile(CONSOLE, args, typed);
  }

  /** The same with another file than the sample's. */
  async startFile(file: string, args: string[], typed?: string): Promise<Ended> {
    const flags = ['--require', LOADER, ...(typed === undefined ? [] : ['--require', AS_TERMINAL])];
    const child = spawn(process.execPath, [...flags, '--', file, ...args], { cwd: this.directory });
    child.stdin.end(typed);
    const [stdout, stderr, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { status, stdout, stderr };
  }

  write(content: string | Buffer, name = '.env'): void {
    writeFileSync(this.path(name), content);
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
}
