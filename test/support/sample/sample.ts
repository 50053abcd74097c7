import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../apps/sample/src/dev/embedded-postgres';
import { eventually } from '../runtime/eventually';
import { PASSWORD } from '../hosts/user-entities';
import { type Answer, send } from '../hosts/processes';

const MAIN = join(__dirname, '../../../apps/sample/src/main.ts');

/** Node runs the sample from its sources, as `npm start` does. */
const FROM_SOURCES = ['--require', join(__dirname, '../runtime/register-ts.cjs')];

/** Limits of the sample that no test on a busy machine reaches. Tests of silent stores set their own. */
const UNHURRIED = { SVC_STORE_TIMEOUT: '30000', STORES_TIMEOUT: '600' };

/** A working directory without an `.env`. */
const directory = (): string => mkdtempSync(join(tmpdir(), 'svc-sample-'));

/** The sample application as a client reaches it. */
export class Sample {
  constructor(readonly url: string) {}

  async status(path: string): Promise<number> {
    return fetch(this.url + path).then(
      ({ status }) => status,
      () => 0,
    );
  }

  /** Sends requests at once. @returns the number of answers by status */
  async answers(path: string, requests: number): Promise<Record<number, number>> {
    const counts: Record<number, number> = {};
    const statuses = await Promise.all(Array.from({ length: requests }, () => this.status(path)));
    for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }

  call(method: string, path: string, body?: object, token?: string): Promise<Answer> {
    return send(this.url + path, method, body, token);
  }

  login(email: string, path = '/auth'): Promise<Answer> {
    return this.call('POST', `${path}/login`, { email, password: PASSWORD });
  }
}

/** The sample as `npm start` runs it, in its own process. */
export class SampleProcess extends Sample {
  private output = '';
  private constructor(
    private readonly process: ChildProcess,
    url: string,
  ) {
    super(url);
    for (const stream of [process.stdout, process.stderr]) stream?.on('data', (chunk) => (this.output += chunk));
  }

  /** @param args what Node runs in `cwd` */
  static async launch(
    env: Record<string, string>,
    args: readonly string[] = [...FROM_SOURCES, MAIN],
    cwd = directory(),
  ): Promise<SampleProcess> {
    const port = await freePort();
    const child = spawn(process.execPath, args, {
      cwd,
      env: { PATH: process.env.PATH!, PORT: String(port), ...UNHURRIED, ...env },
    });
    return new SampleProcess(child, `http://127.0.0.1:${port}`);
  }

  async ready(): Promise<this> {
    await eventually(async () => this.process.exitCode !== null || (await this.status('/health')) === 200);
    if (this.process.exitCode !== null) throw new Error(`the sample exited: ${this.output}`);
    return this;
  }

  get log(): string {
    return this.output;
  }

  async stop(): Promise<number | null> {
    if (this.process.exitCode === null) {
      this.process.kill('SIGTERM');
      await once(this.process, 'exit');
    }
    return this.process.exitCode;
  }
}

/** What tests use of a {@link SampleHost}. */
export type RunningHost = Pick<SampleHost, 'start' | 'stop' | 'log'>;

/** Runs the sample with several configurations in one process: loading its code takes most of a start. */
export class SampleHost {
  private readonly child = fork(join(__dirname, 'sample-host.ts'), {
    cwd: directory(),
    execArgv: FROM_SOURCES,
    silent: true,
  });
  private output = '';

  constructor() {
    for (const stream of [this.child.stdout, this.child.stderr]) stream!.on('data', (chunk) => (this.output += chunk));
  }

  /** One process for a whole file, or for a `describe` block. */
  static forFile(): RunningHost {
    let host: SampleHost;
    beforeAll(() => void (host = new SampleHost()));
    afterAll(() => host.end());
    return {
      start: (env, args) => host.start(env, args),
      stop: () => host.stop(),
      get log() {
        return host.log;
      },
    };
  }

  /** What the process has written. A sample without LOG_LEVEL, which may be empty, writes no log. */
  get log(): string {
    return this.output;
  }

  /** Stops the running sample and starts another one. @throws Error with the reason if the sample refuses to start */
  async start(env: Record<string, string>, args: string[] = []): Promise<Sample> {
    const port = env.PORT ?? String(await freePort());
    const { refusal } = await this.ask({
      env: { PATH: process.env.PATH, PORT: port, ...UNHURRIED, ...env },
      args,
    });
    if (refusal !== undefined) throw new Error(refusal);
    return new Sample(`http://127.0.0.1:${port}`);
  }

  async stop(): Promise<void> {
    await this.ask('stop');
  }

  private async ask(what: object | string): Promise<{ refusal?: string }> {
    const ended = new AbortController();
    const answer = Promise.race([
      once(this.child, 'message', ended).then(([message]) => message),
      once(this.child, 'exit', ended).then(([code]) => {
        throw new Error(`the process of the sample exited with ${code}: ${this.output}`);
      }),
    ]);
    this.child.send(what);
    return answer.finally(() => ended.abort());
  }

  async end(): Promise<void> {
    if (this.child.kill('SIGKILL')) await once(this.child, 'exit');
  }
}
