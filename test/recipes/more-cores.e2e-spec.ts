import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { authMigrations } from '@svc/auth';
import { DataSource } from 'typeorm';
import { freePort } from '../../apps/sample/src/dev/embedded-postgres';
import { filesOf } from '../docs/blocks';
import { LOADER, type SourceFile, built } from '../docs/built';
import { quickStartUsers } from '../docs/page-modules';
import { eventually } from '../support/runtime/eventually';
import { type TestDatabase, createEmptyDatabase } from '../support/stores/database';
import { describeWithRedis, sharedRedisUrl } from '../support/stores/with-redis';

const replaced = (text: string, from: string, to: string): string => {
  expect(text).toContain(from);
  return text.replace(from, to);
};

/** The application of the quick start with the options of the recipe, and its two main files. */
function files(): SourceFile[] {
  const page = filesOf('docs/deployment.md').filter(({ file }) => /^src\/(cluster|main)\.ts$/.test(file));
  expect(page.map(({ file }) => file)).toEqual(['src/cluster.ts', 'src/main.ts']);
  const application = filesOf('docs/quick-start.md').map(({ file, text }) => {
    if (file !== 'src/app.module.ts') return { file, text };
    const migrated = replaced(text, 'migrationsRun: true', 'migrationsRun: false, extra: { max: 10 }');
    return { file, text: replaced(migrated, 'secret:', 'hashing: { concurrency: 1 }, secret:') };
  });
  return [...page, ...application];
}

/**
 * Runs before the main file of each process. Every answer names its process and closes its connection, so that the next
 * request goes to the next worker. A request with `held` is answered after its process has received SIGTERM.
 */
const OBSERVER = `
const { Server } = require('node:http');
const { emit } = Server.prototype;
Server.prototype.emit = function (event, request, response) {
  if (event !== 'request') return emit.apply(this, arguments);
  response.setHeader('X-Process', process.pid);
  response.shouldKeepAlive = false;
  if (!request.url.includes('held')) return emit.apply(this, arguments);
  process.once('SIGTERM', () => setImmediate(() => emit.apply(this, arguments)));
  process.stdout.write('held\\n');
  return true;
};`;

const PASSWORD = 'a horse with wings';

describeWithRedis('the workers of the recipe for more cores', () => {
  let database: TestDatabase;
  let folder: string;
  let env: NodeJS.ProcessEnv;
  let url: string;
  let primary: ChildProcess;
  const started: ChildProcess[] = [];
  let output = '';

  function start(more: NodeJS.ProcessEnv = {}): ChildProcess {
    output = '';
    const child = spawn(process.execPath, ['--require', LOADER, '--require', './observer.cjs', 'dist/cluster.js'], {
      cwd: folder,
      env: { ...env, ...more },
    });
    started.push(child);
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    return child;
  }

  beforeAll(async () => {
    database = await createEmptyDatabase();
    const { CreateUsers1795000000000 } = quickStartUsers();
    const migrations = [...authMigrations, CreateUsers1795000000000];
    const source = await new DataSource({ type: 'postgres', url: database.url, migrations }).initialize();
    await source.runMigrations();
    await source.destroy();
    folder = built(files());
    writeFileSync(join(folder, 'observer.cjs'), OBSERVER);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    env = {
      PATH: process.env.PATH!,
      PORT: String(port),
      WORKERS: '2',
      DATABASE_URL: database.url,
      REDIS_URL: sharedRedisUrl()!,
      SVC_SECRET: randomBytes(32).toString('hex'),
    };
    primary = start();
    await eventually(async () => {
      if (primary.exitCode !== null) throw new Error(`the primary process exited: ${output}`);
      return (await fetch(url).catch(() => null)) !== null;
    });
  });
  afterAll(async () => {
    for (const child of started) child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
    await database.drop();
  });

  /** An answer, and the worker that sent it. */
  interface WorkerAnswer {
    status: number;
    body: Record<string, string>;
    by: number;
  }

  async function request(
    method: string,
    path: string,
    body?: object,
    token?: string,
    signal?: AbortSignal,
  ): Promise<WorkerAnswer> {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(body && { 'Content-Type': 'application/json' }),
        ...(token && { Authorization: `Bearer ${token}` }),
      },
      body: body && JSON.stringify(body),
      signal,
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return {
      status: response.status,
      body: isJson ? JSON.parse(text) : {},
      by: Number(response.headers.get('x-process')),
    };
  }

  const hello = (token: string, signal?: AbortSignal): Promise<WorkerAnswer> =>
    request('GET', '/hello', undefined, token, signal);
  const refresh = ({ refresh_token }: Record<string, string>): Promise<WorkerAnswer> =>
    request('POST', '/auth/refresh', { refresh_token });

  async function signedIn(): Promise<WorkerAnswer> {
    const email = `${randomUUID()}@example.com`;
    const account = { name: 'Ada', email, password: PASSWORD, password_confirmation: PASSWORD };
    expect((await request('POST', '/auth/register', account)).status).toBe(200);
    const login = await request('POST', '/auth/login', { email, password: PASSWORD });
    expect(login.status).toBe(200);
    return login;
  }

  /** Repeats a request until each of two workers has answered it. @returns the workers, and the statuses of all answers */
  async function atBoth(ask: () => Promise<WorkerAnswer>): Promise<{ workers: number[]; statuses: number[] }> {
    const [workers, statuses] = [new Set<number>(), new Set<number>()];
    await eventually(async () => {
      const { status, by } = await ask();
      workers.add(by);
      statuses.add(status);
      return workers.size >= 2;
    });
    return { workers: [...workers], statuses: [...statuses] };
  }

  const isRunning = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  it('answer at one port, and the primary is none of them', async () => {
    const { body } = await signedIn();
    const { workers, statuses } = await atBoth(() => hello(body.access_token!));
    expect(workers).not.toContain(primary.pid);
    expect(statuses).toEqual([200]);
  });

  it('refresh a session that the other one has started, and refuse what the other one has revoked', async () => {
    const login = await signedIn();
    let latest = login;
    await eventually(async () => {
      latest = await refresh(latest.body);
      expect(latest.status).toBe(200);
      return latest.by !== login.by;
    });
    const { access_token: token } = latest.body;
    expect((await atBoth(() => hello(token!))).statuses).toEqual([200]);
    expect((await request('POST', '/auth/logout', undefined, token)).status).toBe(204);
    expect((await atBoth(() => hello(token!))).statuses).toEqual([401]);
    expect((await atBoth(() => refresh(latest.body))).statuses).toEqual([401]);
  });

  it('go on when one of them is killed, and another one replaces it', async () => {
    const { body } = await signedIn();
    const { workers } = await atBoth(() => hello(body.access_token!));
    const [killed, other] = workers as [number, number];
    process.kill(killed, 'SIGKILL');
    await eventually(async () => output.includes(`Worker ${killed} has ended: SIGKILL`));
    const seen = new Set<number>();
    await eventually(async () => {
      // A connection that the primary gives to the killed worker before it knows of its end is never answered.
      const answer = await hello(body.access_token!, AbortSignal.timeout(10_000)).catch(() => null);
      if (!answer) return false;
      expect(answer.status).toBe(200);
      seen.add(answer.by);
      return seen.has(other) && seen.size === 2;
    });
    expect([...seen]).not.toContain(killed);
  });

  it('answer their requests after a SIGTERM of the primary, and all processes end with 0', async () => {
    const { body } = await signedIn();
    const { workers } = await atBoth(() => hello(body.access_token!));
    const held = request('GET', '/hello?held', undefined, body.access_token);
    await eventually(async () => output.includes('held'));
    const ended = once(primary, 'exit');
    primary.kill('SIGTERM');
    expect((await held).status).toBe(200);
    expect(await ended).toEqual([0, null]);
    expect(workers.filter(isRunning)).toEqual([]);
  });

  it('are not started again when none of them can start, and the primary ends with 1', async () => {
    const failing = start({ SVC_SECRET: 'short' });
    expect(await once(failing, 'exit')).toEqual([1, null]);
    expect(output.match(/has ended/g)).toHaveLength(1);
  });
});
