import type { Recorded } from './apps/counting';
import type { Connection, Load } from './load';
import { redisInfo } from './redis-info';
import type { Stores } from './stores';

/** Store calls that one request makes. */
export interface StoreCalls {
  /** The first word of each statement, in their order. */
  sql: string[];
  /** How often each command, those inside scripts among them. */
  redis: Record<string, number>;
}

const COUNTED = 20;

/** Counts the store calls of one request, over some that run one after the other with nothing beside them. */
export async function storeCalls(load: Load, { redisUrl }: Stores): Promise<StoreCalls> {
  const [connection] = await load.connections(1, 1);
  if (connection!.turns && connection!.turns.length < COUNTED) throw new Error(`${load.name}: too few turns to count`);
  await load.server.rest();
  const { commands: before } = await redisInfo(redisUrl);
  const recorded = await load.server.recorded(async () => {
    for (let i = 0; i < COUNTED; i++) await sendOne(load, connection!);
  });
  const { commands: after } = await redisInfo(redisUrl);
  const redis = Object.entries(after).map(([name, calls]) => [name, (calls - (before[name] ?? 0)) / COUNTED] as const);
  return { sql: verbsOf(recorded), redis: Object.fromEntries(redis.filter(([, calls]) => calls > 0).toSorted()) };
}

/** Of the last request: what the first one finds out, such as the columns of a table, is asked once. */
function verbsOf(recorded: Recorded[]): string[] {
  const verbs = recorded.map(({ text }) => /^\s*(\w+)/.exec(text)?.[1]?.toUpperCase() ?? text);
  return verbs.slice(-Math.round(verbs.length / COUNTED) || verbs.length);
}

/** Sends one request. @throws when its answer is not 2xx */
export async function sendOne({ server, path, method, name }: Load, connection: Connection): Promise<void> {
  const { body, follow, turns } = connection;
  const headers = turns?.shift() ?? connection.headers;
  const answer = await fetch(server.url + path, { method, headers, body, signal: AbortSignal.timeout(10_000) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${name} answered ${answer.status}`);
  if (follow) connection.body = follow(text);
}
