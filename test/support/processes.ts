import type { AuthModuleOptions } from '@svc/auth';
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

/** A host application running in a process of its own. */
export interface HostProcess {
  url: string;
  /** What the process has seen so far. */
  seen(): Promise<ProcessCounts>;
  /** Bytes of memory that it takes. */
  memory(): Promise<number>;
  stop(): void;
}

/** The counts of a process: verified passwords and emitted events. */
export interface ProcessCounts {
  verified: number;
  locked: number;
  released: number;
  limited: number;
}

interface Stores {
  databaseUrl: string;
  redisUrl: string;
  /** Whether it believes `X-Forwarded-For`. */
  behindProxy?: boolean;
}

/** Starts host applications that share their stores, as the nodes of one deployment do. */
export const startProcesses = (
  count: number,
  stores: Stores,
  options: Partial<AuthModuleOptions> = {},
  main = 'host-process.ts',
): Promise<HostProcess[]> => Promise.all(Array.from({ length: count }, () => startProcess(main, stores, options)));

function startProcess(main: string, stores: Stores, options: Partial<AuthModuleOptions>): Promise<HostProcess> {
  const child: ChildProcess = fork(join(__dirname, main), {
    execArgv: ['--require', join(__dirname, 'register-ts.cjs')],
    env: { ...process.env, HOST_OPTIONS: JSON.stringify({ ...stores, options }) },
  });
  return new Promise((resolve, reject) => {
    const ask = <T>(what: string): Promise<T> =>
      new Promise((answer) => {
        child.once('message', answer as (message: unknown) => void);
        child.send(what);
      });
    const [seen, memory] = [() => ask<ProcessCounts>('seen'), () => ask<number>('memory')];
    child.once('message', (url: string) => resolve({ url, seen, memory, stop: () => child.kill('SIGKILL') }));
    child.once('exit', (code) => reject(new Error(`the host process ended with ${code}`)));
  });
}

/** One answer, read whole. */
export interface Answer {
  status: number;
  body: Record<string, string>;
  retryAfter: string | null;
}

/** Sends one request with `fetch`, which keeps connections of its own to every process. */
export async function send(
  url: string,
  method: string,
  body?: object,
  token?: string,
  more: Record<string, string | undefined> = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(body && { 'Content-Type': 'application/json' }),
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(more as object),
    },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  const retryAfter = response.headers.get('retry-after');
  return { status: response.status, body: text ? JSON.parse(text) : {}, retryAfter };
}

/** The sums of the counts of several processes. */
export async function totalCounts(nodes: readonly HostProcess[]): Promise<ProcessCounts> {
  const all = await Promise.all(nodes.map((node) => node.seen()));
  const sum = (name: keyof ProcessCounts): number => all.reduce((total, seen) => total + seen[name], 0);
  return { verified: sum('verified'), locked: sum('locked'), released: sum('released'), limited: sum('limited') };
}
