import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A failure of an operation, as the client gets it. */
export interface Failure {
  message: string;
  extensions: { code: string; [name: string]: unknown };
}

/** The data of an operation: each operation has its own. */
// oxlint-disable-next-line typescript/no-explicit-any -- the tests name its fields
export type Data = any;

export interface Answer {
  data: Data;
  errors?: Failure[];
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** The application, as a client over HTTP sees it: that of APP_URL, or a process that this starts. */
export class Application {
  private constructor(
    private readonly url: string,
    private readonly child?: ChildProcess,
  ) {}

  static async start(): Promise<Application> {
    if (process.env.APP_URL) return new Application(process.env.APP_URL);
    const port = await freePort();
    const env = { ...process.env, PORT: String(port), HOST: '127.0.0.1' };
    const child = spawn(process.execPath, ['dist/src/main.js'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    const url = `http://127.0.0.1:${port}`;
    while (child.exitCode === null && (await fetch(url).catch(() => null)) === null) await sleep(50);
    if (child.exitCode !== null) throw new Error('The application ended.');
    return new Application(url, child);
  }

  async stop(): Promise<void> {
    if (!this.child) return;
    this.child.kill('SIGTERM');
    await once(this.child, 'close');
  }

  async send(query: string, variables: object = {}, token?: string): Promise<Answer> {
    const answer = await fetch(`${this.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ query, variables }),
    });
    return (await answer.json()) as Answer;
  }

  /** The data of an operation that succeeds. */
  async data(query: string, variables: object = {}, token?: string): Promise<Data> {
    const { data, errors } = await this.send(query, variables, token);
    if (errors) throw new Error(JSON.stringify(errors));
    return data;
  }

  /** The failure of an operation that fails. */
  async failure(query: string, variables: object = {}, token?: string): Promise<Failure> {
    const { errors } = await this.send(query, variables, token);
    if (errors?.length !== 1) throw new Error(`One error was expected: ${JSON.stringify(errors)}`);
    return errors[0]!;
  }
}
