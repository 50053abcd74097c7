import autocannon from 'autocannon';
import { type Load, prepare } from '../load';
import type { Server } from '../server';
import { quantile } from '../statistics';
import { personOf } from '../stores';

/** A load with a fixed rate: a slow answer does not make the client send less. */
export interface Paced {
  load: Pick<Load, 'server' | 'method' | 'path'> & Partial<Load>;
  /** Requests a second of all connections together. */
  rate: number;
  connections: number;
  /** Prepares the requests of a connection, where `load` does not. Then answers of every status are expected. */
  setUp?: (client: autocannon.Client) => void;
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

/** Sends several loads to a server at once. @throws if a request of a load without `setUp` fails */
export async function paced(server: Server, loads: readonly Paced[], seconds: number): Promise<PacedSample> {
  await server.rest();
  const latencies: number[] = [];
  const statuses = loads.map((): Record<string, number> => ({}));
  const open = await Promise.all(loads.map(async ({ load, connections }) => load.connections?.(connections, seconds)));
  let isMeasured = false;
  const runs = loads.map(({ load, rate, connections, setUp }, i) =>
    autocannon({
      url: server.url + load.path,
      method: load.method,
      connections,
      overallRate: rate,
      duration: seconds + LEAD_SECONDS,
      sampleInt: 50,
      setupClient: setUp ?? ((client) => prepare(client, open[i]!.pop()!)),
    }).on('response', (_client, status, _bytes, milliseconds) => {
      if (!isMeasured) return;
      statuses[i]![status] = (statuses[i]![status] ?? 0) + 1 / seconds;
      if (i === 0) latencies.push(milliseconds);
    }),
  );
  setTimeout(() => {
    isMeasured = true;
    void server.resetDelay();
  }, LEAD_SECONDS * 1000);
  const results = await Promise.all(runs);
  const { loopP99 } = await server.spent();
  for (const [i, { non2xx, errors }] of results.entries())
    if (!loads[i]!.setUp && non2xx + errors)
      throw new Error(`${loads[i]!.load.path}: ${non2xx + errors} requests failed`);
  return { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), loopP99, statuses };
}

/** Wrong passwords, each from another client, half of them for an account that exists. */
export function wrongLogins(server: Server, rate: number): Paced {
  let sent = 0;
  const setUp = (client: autocannon.Client): void =>
    client.setRequests([
      {
        setupRequest: (request) => {
          const n = sent++;
          const { email } = n % 2 ? personOf(1 + (n % 1000)) : { email: `nobody-${n}@example.com` };
          return {
            ...request,
            headers: {
              'content-type': 'application/json',
              'x-forwarded-for': `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`,
            },
            body: JSON.stringify({ email, password: 'wrong-horse-battery' }),
          };
        },
      },
    ]);
  // More connections than the queue of hashes has places, so that the rate is kept.
  return { load: { server, method: 'POST', path: '/auth/login' }, rate, connections: 400, setUp };
}
