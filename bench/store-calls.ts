import type { Recorded } from './apps/counting';
import type { Connection, Load } from './load';
import { redisInfo } from './redis-info';
import type { Stores } from './stores';

/** The store calls of one request. */
export interface StoreCalls {
  /** Each statement with its verb and its tables, in order. */
  sql: string[];
  /** The count of each command, including those inside scripts. */
  redis: Record<string, number>;
}

const COUNTED = 20;

/** Counts the store calls of one request as the average of several sequential requests without other load. */
export async function storeCalls(load: Load, { redisUrl }: Stores): Promise<StoreCalls> {
  const [connection] = await load.connections(1, 1);
  if (connection!.turns && connection!.turns.length < COUNTED) throw new Error(`${load.name}: too few turns to count`);
  await load.server.rest();
  const { commands: before } = await redisInfo(redisUrl);
  const recorded = await load.server.recorded(async () => {
    for (let i = 0; i < COUNTED; i++) await sendOne(load, connection!);
  });
  const { commands: after } = await redisInfo(redisUrl);
  // Commands that occur less than once per request belong to the background checks of the denylist.
  const redis = Object.entries(after).map(
    ([name, calls]) => [name, Math.round((calls - (before[name] ?? 0)) / COUNTED)] as const,
  );
  return { sql: named(recorded), redis: Object.fromEntries(redis.filter(([, calls]) => calls > 0).toSorted()) };
}

/** The verb of a changing statement, also inside a WITH. */
const CHANGE = /\b(?:INSERT(?= INTO )|DELETE(?= FROM )|UPDATE(?= "))/i;

/** The statements of the last request: the first one also reads metadata such as the columns of a table. */
function named(recorded: Recorded[]): string[] {
  const names = recorded.map(({ text }) => {
    const [first = text] = /\w+/.exec(text) ?? [];
    const [verb] = CHANGE.exec(text) ?? [/^with$/i.test(first) ? 'SELECT' : first];
    // Statements of a library have quoted table names, and the names of a WITH are not quoted.
    const quoted = tablesIn(text, /\b(?:FROM|INTO|UPDATE|JOIN)\s+"(\w+)"/gi);
    const tables = quoted.length ? quoted : tablesIn(text, /\b(?:FROM|INTO|JOIN)\s+(\w+)(?![\w.(])/gi);
    return [verb.toUpperCase(), tables.map((table) => `\`${table}\``).join(' and ')].join(' ').trimEnd();
  });
  return names.slice(-Math.round(names.length / COUNTED) || names.length);
}

const tablesIn = (text: string, where: RegExp): string[] => [
  ...new Set([...text.matchAll(where)].map(([, name]) => name!).toSorted()),
];

/** Sends one request. @throws if its response is not 2xx */
export async function sendOne({ server, path, method, name }: Load, connection: Connection): Promise<void> {
  const { body, follow, turns } = connection;
  const headers = turns?.shift() ?? connection.headers;
  const answer = await fetch(server.url + path, { method, headers, body, signal: AbortSignal.timeout(10_000) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${name} answered ${answer.status}`);
  if (follow) connection.body = follow(text);
}
