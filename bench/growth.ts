// Compares requests in tables of millions of sessions and users with those in tables of a thousand sessions.
import { RedisServer } from '../test/support/stores/redis';
import { Cleanup } from './cleanup';
import { type Filled, fill } from './growth/fill';
import { openLoad } from './growth/open-load';
import { plansOf } from './growth/plans';
import { KINDS, type Kind, RATES, type Size, report } from './growth/report';
import { revokeCrowds } from './growth/revoking';
import { Deployment } from './growth/deployment';
import { type Writes, measureWrites } from './growth/writes';
import { publish } from './page';
import { readSettings, readSizes } from './settings';
import { type Stores, startStores } from './stores';

const FEW = 1000;
const CROWDS = [1, 50, 1000];
const REPETITIONS = 20;
const WARM_UP_SECONDS = 5;
/** Sessions of users with a crowd, at most: one of this many. */
const CROWDED = 10;
/** The minimum number of sessions that are inserted per second. */
const FILLED_A_SECOND = 5000;

async function main(cleanup: Cleanup): Promise<void> {
  const settings = readSettings({
    BENCH_ROUNDS: '25',
    BENCH_SECONDS: '2',
    BENCH_CONNECTIONS: '4',
    ...process.env,
  });
  const { rounds, seconds, connections } = settings;
  const sizes = readSizes(1_000_000);
  const rate = Number(process.env.BENCH_RATE || 100);
  const all = sizes.reduce((sum, size) => sum + size, 0);
  cleanup.deadline(1200 + all / FILLED_A_SECOND + 2 * KINDS.length * (sizes.length + 1) * rounds * seconds);

  const stores = await startStores(cleanup, { max_connections: '100' });
  // Each refresh of the measured rounds uses a different session, if there are enough.
  const maxTokens = Math.ceil(rate * (WARM_UP_SECONDS + rounds * seconds) * 1.1);
  const filled: Filled[] = [];
  for (const sessions of [FEW, ...sizes]) {
    const crowds = {
      sizes: CROWDS.filter((size) => size * REPETITIONS * CROWDED <= sessions),
      repetitions: REPETITIONS,
    };
    filled.push(await timed(`filling ${sessions} sessions`, () => fill(sessions, maxTokens, crowds)));
  }
  const sides: Deployment[] = [];
  for (const one of filled) sides.push(await startSide(one, stores, connections, cleanup));
  const load = (kind: Kind, side: Deployment, length: number) =>
    openLoad(side.server, { rate: RATES[kind] * rate, seconds: length }, side.stores, side[kind]);

  const samples = sides.map((): Size['samples'] => ({ refresh: [], guarded: [], login: [] }));
  const measure = async (kinds: readonly Kind[]): Promise<void> => {
    for (const kind of kinds) for (const side of sides) await load(kind, side, WARM_UP_SECONDS);
    for (let round = 0; round < rounds; round++)
      await timed(`round ${round + 1} of ${rounds}`, async () => {
        const order = [...sides.entries()];
        for (const kind of kinds)
          for (const [i, side] of round % 2 ? order.toReversed() : order)
            samples[i]![kind].push(await load(kind, side, seconds));
      });
  };

  await measure(['refresh', 'guarded']);
  const written: Writes[] = [];
  for (const side of sides) written.push(await measureWrites(side));
  // After the writes of the refreshes were measured, because a login inserts a row.
  await measure(['login']);
  const measured: Size[] = [];
  for (const [i, side] of sides.entries()) {
    const revoked = await timed('revoking', () => revokeCrowds(side));
    measured.push({ filled: side.filled, samples: samples[i]!, writes: written[i]!, revoked });
  }
  const plans = await plansOf(sides.at(-1)!);
  const [small, ...large] = measured as [Size, Size, ...Size[]];
  const pace = { rate, seconds };
  await publish('growth', report({ pace, connections, version: stores.version, small, large, plans }));
}

/** With a separate Redis: servers on one Redis must share one database. */
async function startSide(filled: Filled, stores: Stores, connections: number, cleanup: Cleanup): Promise<Deployment> {
  const redis = await RedisServer.start();
  cleanup.add(() => redis.stop());
  return Deployment.start(filled, { ...stores, redisUrl: redis.url }, connections, cleanup);
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await work();
  process.stderr.write(`${what}: ${((performance.now() - start) / 1000).toFixed(0)} s\n`);
  return result;
}

const cleanup = new Cleanup();
main(cleanup)
  .catch((error: unknown) => cleanup.report(error))
  .finally(() => cleanup.run());
