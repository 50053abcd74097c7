// Compares refreshes in a table of a million sessions with those in a table of a thousand.
import { RedisServer } from '../test/support/redis';
import { Cleanup } from './cleanup';
import { type Filled, fill } from './growth/fill';
import { openLoad } from './growth/open-load';
import { plansOf } from './growth/plans';
import { KINDS, type Kind, type Size, report } from './growth/report';
import { revokeCrowds } from './growth/revoking';
import { Deployment } from './growth/deployment';
import { measureWrites } from './growth/writes';
import { publish } from './page';
import { readSettings, readSizes } from './settings';
import { type Stores, startStores } from './stores';

const FEW = 1000;
const CROWDS = [1, 50, 1000];
const REPETITIONS = 20;
const WARM_UP_SECONDS = 5;
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
  cleanup.deadline(1200 + all / FILLED_A_SECOND + 3 * (sizes.length + 1) * rounds * seconds);

  const stores = await startStores(cleanup, { max_connections: '100' });
  // Each refresh of the measured rounds uses a different session, if there are enough.
  const maxTokens = Math.ceil(rate * (WARM_UP_SECONDS + rounds * seconds) * 1.1);
  const largest = Math.max(...sizes);
  const filled = [await fill(FEW, maxTokens, { sizes: [], repetitions: 0 })];
  for (const sessions of sizes) {
    const repetitions = sessions === largest ? Math.min(REPETITIONS, Math.floor(sessions / 2000)) : 0;
    const crowds = { sizes: CROWDS, repetitions };
    filled.push(await timed(`filling ${sessions} sessions`, () => fill(sessions, maxTokens, crowds)));
  }
  const sides: Deployment[] = [];
  for (const one of filled) sides.push(await startSide(one, stores, connections, cleanup));
  const load = (kind: Kind, side: Deployment, length: number) =>
    openLoad(side.server, { rate, seconds: length }, side.stores, side[kind]);

  for (const kind of KINDS) for (const side of sides) await load(kind, side, WARM_UP_SECONDS);
  const samples = sides.map((): Size['samples'] => ({ refresh: [], guarded: [] }));
  for (let round = 0; round < rounds; round++)
    await timed(`round ${round + 1} of ${rounds}`, async () => {
      const order = [...sides.entries()];
      for (const kind of KINDS)
        for (const [i, side] of round % 2 ? order.toReversed() : order)
          samples[i]![kind].push(await load(kind, side, seconds));
    });
  const measured: Size[] = [];
  for (const [i, side] of sides.entries())
    measured.push({ filled: side.filled, samples: samples[i]!, writes: await measureWrites(side) });
  const revoked = await timed('revoking', () => revokeCrowds(sides.at(-1)!));
  const plans = await plansOf(sides.at(-1)!);
  const [small, ...large] = measured as [Size, Size, ...Size[]];
  const pace = { rate, seconds };
  await publish('growth', report({ pace, connections, version: stores.version, small, large, revoked, plans }));
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
