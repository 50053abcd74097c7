import type { Recorded } from './apps/counting';
import type { Connection, Load } from './load';
import { redisInfo } from './redis-info';
import type { Stores } from './stores';

/** Store calls that one request makes. */
export interface StoreCalls {
  /** Of each statement what it does, and the tables it names; in their order. */
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

/** What a statement changes, in a WITH too. */
const CHANGE = /\b(?:INSERT(?= INTO )|DELETE(?= FROM )|UPDATE(?= "))/i;

/** Of the last request: what the first one finds out, such as the columns of a table, is asked once. */
function named(recorded: Recorded[]): string[] {
  const names = recorded.map(({ text }) => {
    const [first = text] = /\w+/.exec(text) ?? [];
    const [verb] = CHANGE.exec(text) ?? [/^with$/i.test(first) ? 'SELECT' : first];
    // Tables are quoted where a library writes the statement, and names of a WITH are not.
    const quoted = tablesIn(text, /\b(?:FROM|INTO|UPDATE|JOIN)\s+"(\w+)"/gi);
    const tables = quoted.length ? quoted : tablesIn(text, /\b(?:FROM|INTO|JOIN)\s+(\w+)(?![\w.(])/gi);
    return [verb.toUpperCase(), tables.map((table) => `\`${table}\``).join(' and ')].join(' ').trimEnd();
  });
  return names.slice(-Math.round(names.length / COUNTED) || names.length);
}

const tablesIn = (text: string, where: RegExp): string[] => [
  ...new Set([...text.matchAll(where)].map(([, name]) => name!).toSorted()),
];

/** Sends one request. @throws when its answer is not 2xx */
export async function sendOne({ server, path, method, name }: Load, connection: Connection): Promise<void> {
  const { body, follow, turns } = connection;
  const headers = turns?.shift() ?? connection.headers;
  const answer = await fetch(server.url + path, { method, headers, body, signal: AbortSignal.timeout(10_000) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${name} answered ${answer.status}`);
  if (follow) connection.body = follow(text);
}
