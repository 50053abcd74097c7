import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../apps/sample/src/embedded-postgres';
import { PASSWORD } from './people';
import { type Answer, send } from './processes';

const MAIN = join(__dirname, '../../dist/apps/sample/apps/sample/src/main.js');

/** The built sample, running as a process of its own. */
export class Sample {
  private output = '';
  private constructor(
    private readonly process: ChildProcess,
    readonly url: string,
  ) {
    for (const stream of [process.stdout, process.stderr]) stream?.on('data', (chunk) => (this.output += chunk));
  }

  static async launch(env: Record<string, string>, args: string[] = []): Promise<Sample> {
    const port = await freePort();
    const cwd = mkdtempSync(join(tmpdir(), 'svc-sample-'));
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd,
      env: { PATH: process.env.PATH!, PORT: String(port), ...env },
    });
    return new Sample(child, `http://127.0.0.1:${port}`);
  }

  async ready(): Promise<this> {
    while ((await this.status('/health')) !== 200) {
      if (this.process.exitCode !== null) throw new Error(`the sample ended: ${this.output}`);
      await sleep(50);
    }
    return this;
  }

  async status(path: string): Promise<number> {
    return fetch(this.url + path).then(
      ({ status }) => status,
      () => 0,
    );
  }

  call(method: string, path: string, body?: object, token?: string): Promise<Answer> {
    return send(this.url + path, method, body, token);
  }

  login(email: string, path = '/auth'): Promise<Answer> {
    return this.call('POST', `${path}/login`, { email, password: PASSWORD });
  }

  get log(): string {
    return this.output;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.process.exitCode !== null || this.process.signalCode) return this.process.exitCode;
    const ended = new Promise<number | null>((resolve) => this.process.once('exit', resolve));
    this.process.kill(signal);
    return ended;
  }
}
