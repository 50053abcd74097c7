import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Stage } from '../support/packages/dockerfile';
import { eventually } from '../support/runtime/eventually';

/** A command in a built image: with the working directory, the variables and, for root, the user of the image. */
export class ContainerProcess {
  private output = '';
  private isClosed = false;

  private constructor(private readonly process: ChildProcess) {
    process.once('close', () => (this.isClosed = true));
    for (const stream of [process.stdout, process.stderr]) stream?.on('data', (chunk) => (this.output += chunk));
  }

  static run(image: Stage, [program, ...args]: string[], env: Record<string, string>): ContainerProcess {
    const [uid, gid] = image.user.split(':').map(Number);
    const child = spawn(program === 'node' ? process.execPath : program!, args, {
      cwd: join(image.root, image.workdir),
      // The folder for temporary files does not exist: nothing may be written.
      env: { PATH: process.env.PATH!, TMPDIR: '/nonexistent', ...image.env, ...env },
      ...(process.getuid?.() === 0 && { uid, gid }),
    });
    return new ContainerProcess(child);
  }

  get log(): string {
    return this.output;
  }

  /** Whether the process has ended and its output is complete. */
  get hasExited(): boolean {
    return this.isClosed;
  }

  signal(name: NodeJS.Signals): void {
    this.process.kill(name);
  }

  /** Waits until the application is ready. @throws Error with its output, if it exits */
  async ready(isReady: () => Promise<boolean>): Promise<void> {
    await eventually(async () => this.hasExited || (await isReady()));
    if (this.hasExited) throw new Error(`the instance exited: ${this.output}`);
  }

  /** Waits for the end of the process. @returns its exit code, null if a signal ended it */
  async exit(): Promise<number | null> {
    await eventually(async () => this.hasExited);
    return this.process.exitCode;
  }

  async stop(): Promise<void> {
    if (this.hasExited) return;
    const ended = once(this.process, 'close');
    this.process.kill('SIGKILL');
    await ended;
  }
}
