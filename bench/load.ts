import autocannon from 'autocannon';
import { HASHES_AT_ONCE } from './apps/hashes-at-once';
import type { Spent } from './apps/counting';
import { processTreeMicros } from './processor-time';
import { redisInfo } from './redis-info';
import type { Server } from './server';
import { quantile } from './statistics';
import type { Stores } from './stores';

/** One connection of a load: what it sends, and how an answer changes what it sends next. */
export interface Connection {
  headers: Record<string, string>;
  body?: string;
  /** The body of the next request, from the answer to this one. */
  follow?(answer: string): string;
  /** In the place of `headers`, for requests that can be made but once: those of each, and the end after the last. */
  turns?: Record<string, string>[];
}

/** One kind of request to one server. */
export interface Load {
  name: string;
  server: Server;
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  /** Whether its requests can be made but once, and cost too much to prepare for a warm-up. */
  isScarce?: boolean;
  /** Fresh connections: a sample ends in the middle of a chain of tokens, and nobody has its last link. */
  connections(count: number, seconds: number): Promise<Connection[]>;
}

/** What one scenario did in one round. Times are milliseconds, processor times microseconds for one request. */
export interface Sample {
  perSecond: number;
  p50?: number;
  p99?: number;
  /** All threads of the server process. */
  cpuMicros?: number;
  /** All processes of PostgreSQL. */
  postgresMicros?: number;
  redisMicros?: number;
  /** How late the server's timers were. */
  loopP99?: number;
  /** Resident memory of the server process after the sample, in MiB. */
  rss?: number;
  /** SQL statements for one request; fewer than alone, where requests share one. */
  statements?: number;
  /** Redis commands likewise. */
  commands?: number;
  /** Milliseconds that one password hash took, its wait for a turn not included. */
  hashMs?: number;
  /** How much of the time hashes were being computed, of as many at once as our application computes. */
  hashing?: number;
}

/** How much of what to send, and the stores behind it. */
export interface LoadOptions {
  connections: number;
  stores: Stores;
}

/** What the stores have spent so far. */
export async function storesSpent({ redisUrl, postmaster }: Stores) {
  const { cpuMicros, commands } = await redisInfo(redisUrl);
  const all = Object.values(commands).reduce((sum, calls) => sum + calls, 0);
  return { postgresMicros: processTreeMicros(postmaster), redisMicros: cpuMicros, commands: all };
}

/**
 * Seconds of load before every sample. While other scenarios have their turns a process rests, and V8 gives up code and
 * memory that a server under traffic keeps.
 */
export const WARM_UP_SECONDS = 1;

/** Sends one kind of request for some seconds. @throws when an answer was not 2xx: failures are fast and prove nothing */
export async function sample(load: Load, seconds: number, { connections, stores }: LoadOptions): Promise<Sample> {
  if (!load.isScarce)
    await sent(load, await load.connections(connections, WARM_UP_SECONDS), { duration: WARM_UP_SECONDS });
  const open = await load.connections(connections, seconds);
  const amount = open.reduce((sum, { turns }) => sum + (turns?.length ?? 0), 0);
  const latencies: number[] = [];
  const before = await load.server.rest();
  const storesBefore = await storesSpent(stores);
  await load.server.resetDelay();
  const result = await sent(load, open, amount ? { amount } : { duration: seconds }, latencies);
  const atEnd = await load.server.spent();
  const after = await load.server.rest();
  const storesAfter = await storesSpent(stores);

  const failed = result.non2xx + result.errors;
  if (failed || !latencies.length) throw new Error(`${load.name}: ${failed} of ${latencies.length} requests failed`);
  // The last request of each connection is worked on too, though nobody waits for its answer.
  const worked = amount || result['2xx'] + connections;
  return {
    perSecond: result['2xx'] / result.duration,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    cpuMicros: (after.cpuMicros - before.cpuMicros) / worked,
    postgresMicros: (storesAfter.postgresMicros! - storesBefore.postgresMicros!) / worked,
    redisMicros: (storesAfter.redisMicros - storesBefore.redisMicros) / worked,
    statements: (after.statements - before.statements) / worked,
    commands: (storesAfter.commands - storesBefore.commands) / worked,
    ...hashingOf(before, atEnd, result.duration),
    loopP99: atEnd.loopP99,
    rss: atEnd.rss,
  };
}

function sent(
  { server, path, method }: Load,
  open: Connection[],
  length: { amount: number } | { duration: number },
  latencies: number[] = [],
) {
  const left = [...open];
  return autocannon({
    url: server.url + path,
    method,
    connections: open.length,
    ...length,
    sampleInt: 50,
    setupClient: (client) => prepare(client, left.pop()!),
  }).on('response', (_client, _status, _bytes, milliseconds) => void latencies.push(milliseconds));
}

/** What a process did of hashing in so many seconds. */
export function hashingOf(before: Spent, after: Spent, seconds: number): Pick<Sample, 'hashMs' | 'hashing'> {
  const hashMs = after.hashMs - before.hashMs;
  return { hashMs: hashMs / (after.hashes - before.hashes), hashing: hashMs / (seconds * 1000 * HASHES_AT_ONCE) };
}

/** Says what a connection sends. */
export function prepare(client: autocannon.Client, { headers, body, follow, turns }: Connection): void {
  const onResponse = follow && ((_status: number, answer: string) => client.setBody(follow(answer)));
  client.setRequests((turns ?? [headers]).map((each) => ({ headers: each, body, onResponse })));
}
