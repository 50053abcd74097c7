import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Recorded, Spent } from './apps/counting';
import type { Tokens } from './apps/serve';
import type { Cleanup } from './cleanup';
import type { Stores } from './stores';

const REGISTER = join(__dirname, '../test/support/runtime/register-ts.cjs');
const START_TIMEOUT_MS = 30_000;
const REST_MS = 50;
const MAX_RESTS = 200;
// As many as can wait for the pool without a timeout, even on a busy machine.
const PART = 50;

export const ADAPTERS = ['express', 'fastify'] as const;
export type Adapter = (typeof ADAPTERS)[number];

/** An application in its own process. */
export class Server {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
  ) {}

  /** Starts `bench/apps/{app}.ts` as in production, on an adapter and with additional environment variables. */
  static async start(
    app: string,
    { databaseUrl, redisUrl }: Stores,
    cleanup: Cleanup,
    { adapter = 'express', ...more }: { adapter?: Adapter; [variable: string]: string | undefined } = {},
  ): Promise<Server> {
    const child = spawn(process.execPath, [...flagsOf(app), '--require', REGISTER, join(__dirname, `apps/${app}.ts`)], {
      // The caller's SVC_* variables must not reach a measured application.
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        DATABASE_URL: databaseUrl,
        REDIS_URL: redisUrl,
        BENCH_ADAPTER: adapter,
        ...more,
      },
      // The security log of wrong passwords is written but not shown.
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    cleanup.add(() => stopped(child));
    const { port } = await messageOf<{ port: number }>(child, app);
    return new Server(`http://127.0.0.1:${port}`, child);
  }

  get pid(): number {
    return this.child.pid!;
  }

  stop(): Promise<void> {
    return stopped(this.child);
  }

  /** The work of the process so far. */
  spent(): Promise<Spent> {
    return this.get('/bench-stats');
  }

  /** Restarts the measurement of the event loop delay. */
  async resetDelay(): Promise<void> {
    await this.get('/bench-stats?do=reset');
  }

  /** The statements that were sent during `work`, with their results. */
  async recorded(work: () => Promise<unknown>): Promise<Recorded[]> {
    await this.get('/bench-stats?do=record');
    await work();
    return this.get('/bench-stats?do=recorded');
  }

  /**
   * Waits until the process is idle. Otherwise the queued work of an interrupted sample, above all password hashes,
   * would run during the next one.
   */
  async rest(): Promise<Spent> {
    let before = await this.spent();
    for (let i = 0; i < MAX_RESTS; i++) {
      await sleep(REST_MS);
      const after = await this.spent();
      const quiet = after.cpuMicros - before.cpuMicros < REST_MS * 100 && after.statements === before.statements;
      if (quiet) return after;
      before = after;
    }
    throw new Error('the server process does not become idle');
  }

  /** Creates sessions of different users as far as possible, or all of one user. */
  async sessions<T = Tokens>(prefix: string, count: number, user?: number): Promise<T[]> {
    const made: T[] = [];
    while (made.length < count) {
      const part = Math.min(PART, count - made.length);
      const whose = user ? `user=${user}` : `from=${made.length}`;
      made.push(...(await this.get<T[]>(`${prefix}/sessions?count=${part}&${whose}`)));
    }
    return made;
  }

  async get<T>(path: string): Promise<T> {
    if (this.child.exitCode !== null) throw new Error('the server process has exited');
    const answer = await fetch(this.url + path, { signal: AbortSignal.timeout(20_000) });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
    return (await answer.json()) as T;
  }
}

/** The next message of a process. @throws if the process exits first or sends no message in time */
export async function messageOf<T>(child: ChildProcess, name: string): Promise<T> {
  const [message] = (await Promise.race([
    once(child, 'message', { signal: AbortSignal.timeout(START_TIMEOUT_MS) }),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`${name} exited with ${code}`))),
  ])) as [T];
  return message;
}

/** `BENCH_PROFILE` names a directory for one CPU profile of each measured process. */
export const flagsOf = (app: string): string[] =>
  process.env.BENCH_PROFILE
    ? ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROFILE}`, `--cpu-prof-name=${app}-${Date.now()}.cpuprofile`]
    : [];

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  // When the channel closes, the process exits normally and writes its profile.
  if (child.connected) child.disconnect();
  const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
  await exit;
  clearTimeout(timer);
}
