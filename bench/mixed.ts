// Measures guarded requests beside refreshes and logins, and beside a flood of wrong passwords.
import { Cleanup } from './cleanup';
import { fillTables } from './fill-tables';
import { guarded, login, refresh } from './groups/group';
import { type Load, sample } from './load';
import { type Paced, guardedRequests, logins, paced, refreshes, wrongLogins } from './mixed/paced';
import { type Mixed, report } from './mixed/report';
import { publish } from './page';
import { ADAPTERS, type Adapter, Server } from './server';
import { type Settings, readSettings } from './settings';
import { type Stores, startStores } from './stores';

/** The part of the capacity of each kind alone that the mixture uses: 70 % together. */
const PARTS = { guarded: 0.4, refresh: 0.2, login: 0.1 };
type Kind = keyof typeof PARTS;

const FLOOD_A_SECOND = 1000;

async function main(cleanup: Cleanup): Promise<void> {
  const settings = readSettings({ BENCH_SECONDS: '4', ...process.env });
  cleanup.deadline(300 + 40 * settings.rounds * settings.seconds);
  const stores = await startStores(cleanup);
  await fillTables(stores);
  const mixed: Mixed[] = [];
  for (const adapter of ADAPTERS) mixed.push(await measured(adapter, settings, stores, cleanup));
  const [major] = process.versions.node.split('.');
  await publish(`mixed on Node ${major}`, report(mixed, settings, FLOOD_A_SECOND));
}

async function measured(adapter: Adapter, settings: Settings, stores: Stores, cleanup: Cleanup): Promise<Mixed> {
  const { rounds, seconds, connections } = settings;
  const server = await Server.start('ours', stores, cleanup, { adapter, BENCH_PROXY: '1', BENCH_QUIET: '1' });
  const loads: Record<Kind, Load> = {
    guarded: guarded('guarded', server, '', '/guarded'),
    refresh: refresh('refresh', server, '', '/auth/refresh'),
    login: login('login', server, '/auth/login'),
  };
  const rates = {} as Record<Kind, number>;
  for (const [kind, load] of Object.entries(loads) as [Kind, Load][]) {
    const { perSecond } = await sample(load, seconds, { connections, stores });
    rates[kind] = Math.round(perSecond * PARTS[kind]);
  }
  const own = guardedRequests(rates.guarded);
  const settingsOf = {
    alone: [own],
    mixed: [own, refreshes(rates.refresh), logins(rates.login)],
    flooded: [own, wrongLogins(FLOOD_A_SECOND)],
  };
  const result: Mixed = { adapter, rates, alone: [], mixed: [], flooded: [] };
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`${adapter}: round ${round + 1} of ${rounds}\n`);
    const order = Object.entries(settingsOf) as [keyof typeof settingsOf, Paced[]][];
    for (const [name, all] of round % 2 ? order.toReversed() : order)
      result[name].push(await paced(server, all, seconds));
  }
  await server.stop();
  return result;
}

const cleanup = new Cleanup();
main(cleanup)
  .catch((error: unknown) => cleanup.report(error))
  .finally(() => cleanup.run());
