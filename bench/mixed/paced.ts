import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type Sent } from '../growth/client';
import { gapMs } from '../growth/open-load';
import type { Server } from '../server';
import { quantile } from '../statistics';
import { type Tokens, PEOPLE } from '../apps/serve';
import { personOf } from '../stores';

/** A load with a fixed rate: a slow answer does not make the clients send less. */
export interface Paced {
  method: 'GET' | 'POST';
  path: string;
  /** Requests a second. The gaps are exponentially distributed, as those of independent clients are. */
  rate: number;
  /** The clients. A request waits for one that is free, and the wait is a part of its duration. */
  clients: number;
  /** Makes what one client sends: the function gets its last answer. */
  client: (tokens: Tokens, number: number) => (answer: string | undefined) => Sent;
  /** Whether answers of every status are expected. */
  isRefused?: boolean;
}

/** The latencies of the first load, in milliseconds, and what the others got. */
export interface PacedSample {
  p50: number;
  p99: number;
  /** The event loop delay of the server. */
  loopP99: number;
  /** Requests a second that were answered with each status, by load. */
  statuses: Record<string, number>[];
}

/** The seconds before the measurement begins, so that queues have filled. */
const LEAD_SECONDS = 1;

/** Sends several loads to a server at once. @throws if a request fails that may not be refused */
export async function paced(server: Server, loads: readonly Paced[], seconds: number): Promise<PacedSample> {
  const open = await Promise.all(loads.map(async ({ clients }) => server.sessions('', clients)));
  await server.rest();
  const latencies: number[] = [];
  const statuses = loads.map((): Record<string, number> => ({}));
  let isMeasured = false;
  setTimeout(() => {
    isMeasured = true;
    void server.resetDelay();
  }, LEAD_SECONDS * 1000);
  const runs = loads.map((load, i) =>
    send(server, load, open[i]!, seconds + LEAD_SECONDS, (status, milliseconds) => {
      if (status >= 300 && !load.isRefused) throw new Error(`${load.path} answered ${status}`);
      if (!isMeasured) return;
      statuses[i]![status] = (statuses[i]![status] ?? 0) + 1 / seconds;
      if (i === 0) latencies.push(milliseconds);
    }),
  );
  await Promise.all(runs);
  const { loopP99 } = await server.spent();
  return { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), loopP99, statuses };
}

async function send(
  server: Server,
  { method, path, rate, clients, client }: Paced,
  tokens: readonly Tokens[],
  seconds: number,
  answered: (status: number, milliseconds: number) => void,
): Promise<void> {
  const connections = new Client(server.url, clients);
  const free = tokens.map((own, i) => client(own, i)).map((next) => ({ next, last: undefined as string | undefined }));
  const waiting: (() => void)[] = [];
  const one = async (since: number): Promise<void> => {
    const sender =
      free.pop() ?? (await new Promise<(typeof free)[number]>((resolve) => waiting.push(() => resolve(free.pop()!))));
    const { status, text } = await connections.send(method, path, sender.next(sender.last));
    sender.last = text;
    free.push(sender);
    waiting.shift()?.();
    answered(status, performance.now() - since);
  };
  const failures: unknown[] = [];
  const sent: Promise<void>[] = [];
  const start = performance.now();
  for (let at = 0; at < seconds * 1000; at += gapMs(rate)) {
    const early = start + at - performance.now();
    if (early > 0) await sleep(early);
    sent.push(one(start + at).catch((error: unknown) => void failures.push(error)));
  }
  await Promise.all(sent);
  connections.close();
  if (failures.length) throw failures[0];
}

export const guardedRequests = (rate: number): Paced => ({
  method: 'GET',
  path: '/guarded',
  rate,
  clients: 100,
  client:
    ({ access_token }) =>
    () => ({ token: access_token }),
});

/** Each client follows its own chain of tokens. */
export const refreshes = (rate: number): Paced => ({
  method: 'POST',
  path: '/auth/refresh',
  rate,
  clients: 100,
  client:
    ({ refresh_token }) =>
    (answer) => ({
      body: { refresh_token: answer === undefined ? refresh_token : (JSON.parse(answer) as Tokens).refresh_token },
    }),
});

/** Each login is one of the next user, because logins of one user wait for each other. */
export function logins(rate: number): Paced {
  let sent = 0;
  const client = () => () => ({ body: personOf(1 + (sent++ % PEOPLE)) });
  return { method: 'POST', path: '/auth/login', rate, clients: 100, client };
}

/** Wrong passwords, each from another client, half of them for an account that exists. */
export function wrongLogins(rate: number): Paced {
  let sent = 0;
  const client = () => () => {
    const n = sent++;
    const { email } = n % 2 ? personOf(1 + (n % PEOPLE)) : { email: `nobody-${n}@example.com` };
    return {
      body: { email, password: 'wrong-horse-battery' },
      from: `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`,
    };
  };
  // More clients than the queue of hashes has places, so that the rate is kept.
  return { method: 'POST', path: '/auth/login', rate, clients: 400, client, isRefused: true };
}
