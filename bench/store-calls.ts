import type { Recorded } from './apps/counting';
import type { Connection, Load } from './load';
import { redisInfo } from './redis-info';
import type { Stores } from './stores';

/** Store calls that one request makes. */
export interface StoreCalls {
  /** Of each statement the first word, and the table it is about where it has but one; in their order. */
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
  // What comes less than once a request is not of requests: servers that rest look after their denylist now and then.
  const redis = Object.entries(after).map(
    ([name, calls]) => [name, Math.round((calls - (before[name] ?? 0)) / COUNTED)] as const,
  );
  return { sql: named(recorded), redis: Object.fromEntries(redis.filter(([, calls]) => calls > 0).toSorted()) };
}

/** Of the last request: what the first one finds out, such as the columns of a table, is asked once. */
function named(recorded: Recorded[]): string[] {
  const names = recorded.map(({ text }) => {
    const [, verb = text] = /^\s*(\w+)/.exec(text) ?? [];
    const [, table] = (!/^(with|begin)$/i.test(verb) && /\b(?:FROM|INTO)\s+"?(\w+)"?(?![\w.(])/i.exec(text)) || [];
    return [verb.toUpperCase(), ...(table ? [`\`${table}\``] : [])].join(' ');
  });
  return names.slice(-Math.round(names.length / COUNTED) || names.length);
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
