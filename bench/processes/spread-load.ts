import autocannon from 'autocannon';
import { type Load, prepare, storesSpent } from '../load';
import { processTreeMicros } from '../processor-time';
import { redisInfo } from '../redis-info';
import type { Stores } from '../stores';

/** The result of a load that is spread over processes. Processor times in microseconds per request. */
export interface SpreadSample {
  perSecond: number;
  /** All server processes. */
  servers: number;
  postgres: number;
  redis: number;
  /** The load generator. */
  generator: number;
  /** The total processor time of a request in all processes. */
  total: number;
  /** SQL statements of a request: below one where requests share a statement. */
  statements: number;
  /** Round trips to Redis of a request. */
  trips: number;
}

/** The load on all processes together. */
export interface SpreadLoadOptions {
  connections: number;
  seconds: number;
  /** The processes of one PostgreSQL server. */
  stores: Stores[];
}

type Spent = Record<'servers' | 'postgres' | 'redis' | 'generator' | 'statements' | 'trips', number>;

/** The commands that the library sends. Redis also counts those inside its scripts, which are not sent. */
const SENT = new Set(['mget', 'eval', 'set', 'getdel']);

async function tripsTo({ redisUrl }: Stores): Promise<number> {
  const { commands } = await redisInfo(redisUrl);
  return Object.entries(commands).reduce((sum, [name, calls]) => (SENT.has(name) ? sum + calls : sum), 0);
}

async function spentBy(loads: Load[], stores: Stores[]): Promise<Spent> {
  const rested = await Promise.all(loads.map(({ server }) => server.rest()));
  const spent = await Promise.all(stores.map(storesSpent));
  const redis = spent.reduce((sum, { redisMicros }) => sum + redisMicros, 0);
  const { user, system } = process.cpuUsage();
  const servers = loads.reduce((sum, { server }) => sum + (processTreeMicros(server.pid) ?? NaN), 0);
  const statements = rested.reduce((sum, one) => sum + one.statements, 0);
  const trips = (await Promise.all(stores.map(tripsTo))).reduce((sum, of) => sum + of, 0);
  return { servers, postgres: spent[0]!.postgresMicros ?? NaN, redis, generator: user + system, statements, trips };
}

/** Sends one kind of request to several processes at once, equally distributed. @throws if a response is not 2xx */
export async function spreadLoad(
  loads: Load[],
  { connections, seconds, stores }: SpreadLoadOptions,
): Promise<SpreadSample> {
  const each = Math.floor(connections / loads.length);
  const open = await Promise.all(loads.map((load) => load.connections(each, seconds)));
  const before = await spentBy(loads, stores);
  const runs = loads.map(({ server, path, method }, i) =>
    autocannon({
      url: server.url + path,
      method,
      connections: each,
      duration: seconds,
      sampleInt: 50,
      setupClient: (client) => prepare(client, open[i]!.pop()!),
    }),
  );
  const results = await Promise.all(runs);
  const after = await spentBy(loads, stores);

  const failed = results.reduce((sum, { non2xx, errors }) => sum + non2xx + errors, 0);
  const answered = results.reduce((sum, result) => sum + result['2xx'], 0);
  if (failed || !answered) throw new Error(`${failed} of ${answered + failed} requests failed`);
  const worked = answered + each * loads.length;
  const cost = (of: keyof Spent): number => (after[of] - before[of]) / worked;
  const total = cost('servers') + cost('postgres') + cost('redis') + cost('generator');
  return {
    perSecond: results.reduce((sum, result) => sum + result['2xx'] / result.duration, 0),
    servers: cost('servers'),
    postgres: cost('postgres'),
    redis: cost('redis'),
    generator: cost('generator'),
    total,
    statements: cost('statements'),
    trips: cost('trips'),
  };
}
