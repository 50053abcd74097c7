import autocannon from 'autocannon';
import { HASHES_AT_ONCE } from './apps/hashes-at-once';
import type { Spent } from './apps/counting';
import { processTreeMicros } from './processor-time';
import { redisInfo } from './redis-info';
import type { Server } from './server';
import { quantile } from './statistics';
import type { Stores } from './stores';

/** One connection of a load: its requests, and how a response changes the next request. */
export interface Connection {
  headers: Record<string, string>;
  body?: string;
  /** Computes the body of the next request from this response. */
  follow?(answer: string): string;
  /** Replaces `headers` for requests that can be sent only once: the headers of each. The last one ends the connection. */
  turns?: Record<string, string>[];
}

/** One kind of request to one server. */
export interface Load {
  name: string;
  server: Server;
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  /** Whether its requests can be sent only once and are too expensive to prepare for a warm-up. */
  isScarce?: boolean;
  /** Creates new connections: a sample ends within a chain of tokens, and its last token is lost. */
  connections(count: number, seconds: number): Promise<Connection[]>;
}

/** The result of one scenario in one round. Times in milliseconds, processor times in microseconds per request. */
export interface Sample {
  perSecond: number;
  p50?: number;
  p99?: number;
  /** All threads of the server process. */
  cpuMicros?: number;
  /** All processes of PostgreSQL. */
  postgresMicros?: number;
  redisMicros?: number;
  /** The event loop delay of the server. */
  loopP99?: number;
  /** Resident memory of the server process after the sample, in MiB. */
  rss?: number;
  /** SQL statements per request. Lower than for a single request if requests share a statement. */
  statements?: number;
  /** Redis commands per request, with the same effect. */
  commands?: number;
  /** Milliseconds of one password hash, without its time in the queue. */
  hashMs?: number;
  /** The utilisation of the hash slots of our application, 0 to 1. */
  hashing?: number;
}

/** The number of connections, and the stores behind the server. */
export interface LoadOptions {
  connections: number;
  stores: Stores;
}

/** The processor time and commands of the stores so far. */
export async function storesSpent({ redisUrl, postmaster }: Stores) {
  const { cpuMicros, commands } = await redisInfo(redisUrl);
  const all = Object.values(commands).reduce((sum, calls) => sum + calls, 0);
  return { postgresMicros: processTreeMicros(postmaster), redisMicros: cpuMicros, commands: all };
}

/**
 * Seconds of load before every sample. While other scenarios run, a process is idle, and V8 discards code and memory
 * that a server under load keeps.
 */
export const WARM_UP_SECONDS = 1;

/** Sends one kind of request for some seconds. @throws if a response is not 2xx: failures are fast and prove nothing */
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
  // The server also processes the last request of each connection, although the sample ends before its response.
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

/** The hash figures of a process over a number of seconds. */
export function hashingOf(before: Spent, after: Spent, seconds: number): Pick<Sample, 'hashMs' | 'hashing'> {
  const hashMs = after.hashMs - before.hashMs;
  return { hashMs: hashMs / (after.hashes - before.hashes), hashing: hashMs / (seconds * 1000 * HASHES_AT_ONCE) };
}

/** Sets the requests of a connection. */
export function prepare(client: autocannon.Client, { headers, body, follow, turns }: Connection): void {
  const onResponse = follow && ((_status: number, answer: string) => client.setBody(follow(answer)));
  client.setRequests((turns ?? [headers]).map((each) => ({ headers: each, body, onResponse })));
}
