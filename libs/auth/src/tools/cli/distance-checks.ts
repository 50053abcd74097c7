import { REQUEST_TIMEOUTS, withTimeout } from '../../foundation/platform/deadline';
import { CORE } from '../../foundation/config/core-options';
import { FEATURES } from '../../features';
import { type Waits, statedBy } from '../../foundation/realm/feature';
import { ANSWER_MS, type Finding, type Subject, error, ok, warning } from './config-checks';
import { askersOf } from './store-checks';

/** The round trips of common flows, the fewest first. A single wait is a statement or a whole transaction. */
export const WAITS: readonly (Waits & { readonly name: string })[] = [
  { name: 'guarded routes', row: 'a guarded route of the host', inARow: 1, longest: 1 },
  ...[...statedBy(FEATURES, ({ waits }) => waits)].map(([name, waits]) => ({ name, ...waits })),
].toSorted((a, b) => a.inARow - b.inARow);

/** Answers take longer than the median sometimes. */
const MARGIN = 1.3;

/** The smallest `storeTimeoutMs` with which a flow works at a distance in milliseconds. Pure. */
export const timeoutFor = ({ inARow, longest }: Pick<Waits, 'inARow' | 'longest'>, ms: number): number =>
  Math.ceil(MARGIN * ms * Math.max(longest, inARow / REQUEST_TIMEOUTS));

/**
 * Judges the distance of the stores. Pure.
 *
 * @param stores the names of the stores and the median times of their answers in milliseconds
 */
export function distanceVerdict(stores: readonly (readonly [string, number])[], timeoutMs: number): Finding {
  const ms = Math.max(...stores.map(([, median]) => median));
  const measured = stores.map(([name, median]) => `${name} answers in ${median.toFixed(1)} ms`).join(', ');
  const [works, fails] = [true, false].map((fits) =>
    WAITS.filter((waits) => timeoutFor(waits, ms) <= timeoutMs === fits).map(({ name }) => name),
  ) as [string[], string[]];
  const needed = Math.max(...WAITS.map((waits) => timeoutFor(waits, ms)));
  const what = `These requests are answered 503: ${fails.join(', ')}.${works.length ? ` These work: ${works.join(', ')}.` : ''}`;
  const verdict = !fails.length
    ? ok(`${measured}. With storeTimeoutMs ${timeoutMs}, requests of every kind work.`)
    : (works.length ? warning : error)(
        `${measured}. storeTimeoutMs is ${timeoutMs}. ${what}`,
        `Move the stores nearer to the application, or set storeTimeoutMs (SVC_STORE_TIMEOUT) to ${needed} or more.`,
      );
  return { check: 'distance', ...verdict };
}

const PINGS = 5;

/** The median of several answers in milliseconds. The first one is not counted: it may open a connection. */
async function medianOf(ask: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i <= PINGS; i++) {
    const sentAt = performance.now();
    await ask();
    if (i > 0) times.push(performance.now() - sentAt);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(PINGS / 2)]!;
}

/** The time that PostgreSQL and Redis need for an answer, and which requests work with it. None without a reachable store. */
export async function distanceChecks({ database, redis, config }: Subject): Promise<Finding[]> {
  const asks: [name: string, ask: () => Promise<unknown>][] = [];
  if (database) asks.push(['PostgreSQL', () => database.query('SELECT 1')]);
  const ofRedis = redis ? await askersOf(redis).catch(() => []) : [];
  for (const ask of ofRedis) asks.push(['Redis', () => withTimeout('Redis', ANSWER_MS, ask('PING'))]);
  // Another check reports a store that does not answer.
  const measured = await Promise.all(
    asks.map(async ([name, ask]) =>
      medianOf(ask).then(
        (median) => [[name, median] as const],
        () => [],
      ),
    ),
  );
  const stores = measured.flat();
  return stores.length
    ? [distanceVerdict(stores, config?.storeTimeoutMs ?? CORE.moduleOptions.storeTimeoutMs.default)]
    : [];
}
