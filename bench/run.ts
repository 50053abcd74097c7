import { publishChart } from './chart';
import { Cleanup } from './cleanup';
import { GROUPS } from './groups';
import type { Bench, Group, Scenarios } from './groups/group';
import { fillTables } from './fill-tables';
import { type Sample, WARM_UP_SECONDS } from './load';
import { type LoginTiming, timeLogins } from './login-timing';
import { publish } from './page';
import { redisInfo } from './redis-info';
import { type Measured, report } from './report';
import { Server } from './server';
import { type Settings, readSettings } from './settings';
import { type StoreCalls, storeCalls } from './store-calls';
import { type Stores, startStores } from './stores';

const MOST_SECONDS = 3600;

const CHART_NODE = '24';

async function main(cleanup: Cleanup): Promise<void> {
  const settings = readSettings();
  const unknown = settings.only.filter((name) => !(name in GROUPS));
  if (unknown.length)
    throw new Error(`BENCH_ONLY: there is no ${unknown.join(', ')}, but ${Object.keys(GROUPS).join(', ')}`);
  cleanup.deadline(MOST_SECONDS);
  const stores = await startStores(cleanup);
  await fillTables(stores);
  const groups: Record<string, Measured> = {};
  const timings: Record<string, LoginTiming> = {};
  for (const [name, group] of Object.entries(GROUPS))
    if (!settings.only.length || settings.only.includes(name))
      groups[name] = await measured(name, group, { settings, stores, cleanup }, timings);
  const { version } = await redisInfo(stores.redisUrl);
  const results = { settings, stores: `PostgreSQL ${stores.version}, ${version}`, groups, timings };
  const [major] = process.versions.node.split('.');
  const part = settings.only.length ? ` (${settings.only.join(', ')})` : '';
  await publish(`requests on Node ${major}${part}`, report(results));
  // The page has one chart: that of the Node.js that most new applications use.
  if (major === CHART_NODE) await publishChart(groups.guarded);
}

/** Measures a group while only its own servers run. */
async function measured(
  name: string,
  group: Group,
  around: { settings: Settings; stores: Stores; cleanup: Cleanup },
  timings: Record<string, LoginTiming>,
): Promise<Measured> {
  const { settings, stores, cleanup } = around;
  const servers: Server[] = [];
  const start: Bench['start'] = async (app, how) => {
    const server = await Server.start(app, stores, cleanup, how);
    servers.push(server);
    return server;
  };
  process.stderr.write(`${name}: starts\n`);
  const scenarios = await group.scenarios({ ...around, start });
  // Warms up every scenario before the measurement.
  for (const scenario of Object.values(scenarios)) await scenario.sample(WARM_UP_SECONDS);
  const calls: Record<string, StoreCalls> = {};
  for (const [key, { load }] of Object.entries(scenarios)) if (load) calls[key] = await storeCalls(load, stores);
  const samples = await rounds(name, scenarios, settings);
  for (const { load, timed } of Object.values(scenarios))
    if (load && timed) timings[load.name] = await timeLogins(load, settings.logins);
  await Promise.all(servers.map((server) => server.stop()));
  return { scenarios, samples, calls };
}

/** Runs every scenario once per round, so that a disturbance of the machine affects all of them. */
async function rounds(name: string, scenarios: Scenarios, settings: Settings): Promise<Record<string, Sample[]>> {
  const samples: Record<string, Sample[]> = {};
  for (let round = 0; round < settings.rounds; round++) {
    process.stderr.write(`${name}: round ${round + 1} of ${settings.rounds}\n`);
    const order = Object.entries(scenarios);
    // In reverse order every other time, so that the after-effects of a scenario affect both its neighbours.
    for (const [key, scenario] of round % 2 ? order.toReversed() : order)
      (samples[key] ??= []).push(await scenario.sample(settings.seconds));
  }
  return samples;
}

const cleanup = new Cleanup();
main(cleanup)
  .catch((error: unknown) => cleanup.report(error))
  .finally(() => cleanup.run());
