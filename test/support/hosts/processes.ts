import type { AuthModuleOptions } from '@svc/auth';
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

/** A host application in its own process. */
export interface HostProcess {
  url: string;
  /** What the process has counted so far. */
  seen(): Promise<ProcessCounts>;
  /** The memory of the process in bytes. */
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
  /** Whether the application trusts `X-Forwarded-For`. */
  behindProxy?: boolean;
}

/** Starts host applications on the same stores, as the nodes of one deployment. */
export const startProcesses = (
  count: number,
  stores: Stores,
  options: Partial<AuthModuleOptions> = {},
  main = 'host-process.ts',
): Promise<HostProcess[]> => Promise.all(Array.from({ length: count }, () => startProcess(main, stores, options)));

function startProcess(main: string, stores: Stores, options: Partial<AuthModuleOptions>): Promise<HostProcess> {
  const child: ChildProcess = fork(join(__dirname, main), {
    execArgv: ['--require', join(__dirname, '../runtime/register-ts.cjs')],
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
    child.once('exit', (code) => reject(new Error(`the host process exited with ${code}`)));
  });
}

/** A complete response. */
export interface Answer {
  status: number;
  body: Record<string, string>;
  retryAfter: string | null;
}

/** Sends one request with `fetch`, which has separate connections to every process. */
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

/** The sums of the counts over several processes. */
export async function totalCounts(nodes: readonly HostProcess[]): Promise<ProcessCounts> {
  const all = await Promise.all(nodes.map((node) => node.seen()));
  const sum = (name: keyof ProcessCounts): number => all.reduce((total, seen) => total + seen[name], 0);
  return { verified: sum('verified'), locked: sum('locked'), released: sum('released'), limited: sum('limited') };
}
