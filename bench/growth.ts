// What a million sessions do to a refresh, beside a thousand.
import { RedisServer } from '../test/support/redis';
import { Cleanup } from './cleanup';
import { fill } from './growth/fill';
import { openLoad } from './growth/open-load';
import { plansOf } from './growth/plans';
import { type Growth, KINDS, SIDES, type SideName, report } from './growth/report';
import { revokeCrowds } from './growth/revoking';
import { Side } from './growth/side';
import { publish } from './page';
import { readSettings } from './settings';
import { startStores } from './stores';

const SIZES = [1, 50, 1000];
const REPETITIONS = 20;
const WARM_UP_SECONDS = 5;

async function main(cleanup: Cleanup): Promise<void> {
  const settings = readSettings({
    BENCH_ROUNDS: '25',
    BENCH_SECONDS: '2',
    BENCH_CONNECTIONS: '4',
    ...process.env,
  });
  const { rounds, seconds, connections } = settings;
  const sessions = Number(process.env.BENCH_SESSIONS || 1_000_000);
  const rate = Number(process.env.BENCH_RATE || 100);
  cleanup.deadline(1800 + 6 * rounds * seconds);

  const stores = await startStores(cleanup, { max_connections: '100' });
  const redis = await RedisServer.start();
  cleanup.add(() => redis.stop());
  // Each refresh of the measured rounds meets a session of its own, as far as there are so many.
  const wanted = Math.ceil(rate * (WARM_UP_SECONDS + rounds * seconds) * 1.1);
  const crowds = { sizes: SIZES, repetitions: Math.min(REPETITIONS, Math.floor(sessions / 2000)) };
  const filled = {
    small: await fill(1000, wanted, { sizes: [], repetitions: 0 }),
    large: await told(`filling ${sessions} sessions`, () => fill(sessions, wanted, crowds)),
  };
  const sides = {
    small: await Side.start(filled.small, stores, connections, cleanup),
    // A store of its own: two databases behind one would take each other's denylist for lost.
    large: await Side.start(filled.large, { ...stores, redisUrl: redis.url }, connections, cleanup),
  };
  const load = (kind: 'refresh' | 'guarded', name: SideName, length: number) =>
    openLoad(sides[name].server, { rate, seconds: length }, sides[name].stores, sides[name][kind]);

  for (const kind of KINDS) for (const side of SIDES) await load(kind, side, WARM_UP_SECONDS);
  const samples: Growth['samples'] = { refresh: { small: [], large: [] }, guarded: { small: [], large: [] } };
  for (let round = 0; round < rounds; round++)
    await told(`round ${round + 1} of ${rounds}`, async () => {
      for (const kind of KINDS)
        for (const side of round % 2 ? SIDES.toReversed() : SIDES)
          samples[kind][side].push(await load(kind, side, seconds));
    });
  const revoked = await told('revoking', () => revokeCrowds(sides.large));
  const plans = await plansOf(sides.large);
  const { version } = stores;
  const pace = { rate, seconds };
  await publish('growth', report({ pace, connections, version, filled, samples, revoked, plans }));
}

async function told<T>(what: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await work();
  process.stderr.write(`${what}: ${((performance.now() - start) / 1000).toFixed(0)} s\n`);
  return result;
}

const cleanup = new Cleanup();
main(cleanup)
  .catch((error: unknown) => cleanup.report(error))
  .finally(() => cleanup.run());
