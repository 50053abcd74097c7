import autocannon from 'autocannon';
import type { Scenario } from './scenarios';
import type { Settings } from './settings';
import { quantile } from './statistics';

/** One connection of a scenario: what it sends, and how an answer changes what it sends next. */
export interface Connection {
  headers: Record<string, string>;
  body?: string;
  /** The body of the next request, from the answer to this one. */
  follow?(answer: string): string;
}

/** What one scenario did in one round. Times are milliseconds. */
export interface Sample {
  perSecond: number;
  p50: number;
  p99: number;
  /** Processor time of the server process for one request, in microseconds. */
  cpuMicros: number;
  /** SQL statements for one request; fewer than alone, where requests share one. */
  statements: number;
}

/** Loads a scenario for some seconds. @throws when an answer was not 2xx: failures are fast and prove nothing */
export async function sample(scenario: Scenario, seconds: number, { connections }: Settings): Promise<Sample> {
  const open = await scenario.connections(connections);
  const latencies: number[] = [];
  const before = await scenario.server.rest();
  const run = autocannon({
    url: scenario.server.url + scenario.path,
    method: scenario.method,
    connections,
    duration: seconds,
    sampleInt: 50,
    setupClient: (client) => prepare(client, open.pop()!),
  }).on('response', (_client, _status, _bytes, milliseconds) => void latencies.push(milliseconds));
  const result = await run;
  const after = await scenario.server.rest();

  const failed = result.non2xx + result.errors;
  if (failed || !latencies.length)
    throw new Error(`${scenario.name}: ${failed} of ${latencies.length} requests failed`);
  // The last request of each connection is worked on too, though nobody waits for its answer.
  const worked = result['2xx'] + connections;
  return {
    perSecond: result['2xx'] / result.duration,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    cpuMicros: (after.cpuMicros - before.cpuMicros) / worked,
    statements: (after.statements - before.statements) / worked,
  };
}

function prepare(client: autocannon.Client, { headers, body, follow }: Connection): void {
  const onResponse = follow && ((_status: number, answer: string) => client.setBody(follow(answer)));
  client.setRequests([{ headers, body, onResponse }]);
}

/** Store calls that one request makes. */
export interface StoreCalls {
  statements: number;
  transactionControl: number;
  redis: number;
}

const COUNTED = 20;

/** Counts the store calls of one request, over some that run one after the other with nothing beside them. */
export async function storeCalls(scenario: Scenario, redisCommands: () => Promise<number>): Promise<StoreCalls> {
  const [connection] = await scenario.connections(1);
  const [before, redisBefore] = [await scenario.server.rest(), await redisCommands()];
  for (let i = 0; i < COUNTED; i++) await sendOne(scenario, connection!);
  const [after, redisAfter] = [await scenario.server.spent(), await redisCommands()];
  return {
    statements: (after.statements - before.statements) / COUNTED,
    transactionControl: (after.transactionControl - before.transactionControl) / COUNTED,
    redis: (redisAfter - redisBefore) / COUNTED,
  };
}

async function sendOne({ server, path, method, name }: Scenario, connection: Connection): Promise<void> {
  const { headers, body, follow } = connection;
  const answer = await fetch(server.url + path, { method, headers, body, signal: AbortSignal.timeout(10_000) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${name} answered ${answer.status}`);
  if (follow) connection.body = follow(text);
}
