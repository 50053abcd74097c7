import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../runtime/eventually';

/** The nginx of this machine, if there is one. Debian installs it outside the PATH of ordinary users. */
export const nginxBinary = ['nginx', '/usr/sbin/nginx'].find((name) => spawnSync(name, ['-v']).status === 0);

/** An nginx that runs a configuration of a deployment, with other addresses and files. */
export class Nginx {
  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
  ) {}

  /**
   * @param replacements what this machine needs instead of texts of the file, such as `app1:3000`
   * @param isReady whether the server answers
   * @throws Error if a text that is to be replaced is missing in the file
   */
  static async start(
    file: string,
    replacements: Readonly<Record<string, string>>,
    isReady: () => Promise<boolean>,
  ): Promise<Nginx> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-nginx-'));
    const all = { ...replacements, '/run/nginx.pid': join(folder, 'nginx.pid') };
    const text = Object.entries(all).reduce(
      (before, [name, value]) => {
        if (!before.includes(name)) throw new Error(`${file} does not contain ${name}`);
        return before.replaceAll(name, value);
      },
      readFileSync(file, 'utf8'),
    );
    writeFileSync(join(folder, 'nginx.conf'), text);
    const log = openSync(join(folder, 'log'), 'a');
    const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', '/dev/stderr', '-g', 'daemon off;'];
    const nginx = new Nginx(spawn(nginxBinary!, args, { stdio: ['ignore', log, log] }), folder);
    closeSync(log);
    const answers = await eventually(async () => nginx.process.exitCode !== null || (await isReady())).then(
      () => nginx.process.exitCode === null,
      () => false,
    );
    if (answers) return nginx;
    const failure = new Error(`nginx does not answer: ${nginx.log}`);
    await nginx.stop();
    throw failure;
  }

  /** Everything that it has logged: requests and errors. */
  get log(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8');
  }

  /** Ends the server and removes its files. */
  async stop(): Promise<void> {
    if (this.process.exitCode === null) {
      this.process.kill('SIGTERM');
      await once(this.process, 'exit');
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}
