// Lists what the processor time of a refresh, a login without its hash, a logout and a list of sessions is spent on.
import type { Profiler } from 'node:inspector';
import { Cleanup } from './cleanup';
import { fillTables } from './fill-tables';
import { guarded, login, refresh } from './groups/group';
import { logout } from './groups/logout';
import { type Load, sample } from './load';
import { publish } from './page';
import { type Priced, report } from './prices/report';
import { sharesOf } from './prices/profile';
import { ADAPTERS, Server } from './server';
import { readSettings } from './settings';
import { hashCheaply, startStores } from './stores';

const ROUTES: Readonly<Record<string, (server: Server) => Load>> = {
  refresh: (server) => refresh('refresh', server, '', '/auth/refresh'),
  'login without hash': (server) => login('login', server, '/auth/login'),
  logout: (server) => logout('logout', server),
  'list of sessions': (server) => guarded('list', server, '', '/auth/sessions'),
};

async function main(cleanup: Cleanup): Promise<void> {
  const { rounds, seconds, connections } = readSettings({ BENCH_ROUNDS: '3', BENCH_SECONDS: '4', ...process.env });
  cleanup.deadline(300 + rounds * 8 * (2 * seconds + 20));
  const stores = await startStores(cleanup);
  await fillTables(stores);
  await hashCheaply(stores);
  const priced: Priced[] = [];
  for (const [route, loadOf] of Object.entries(ROUTES))
    for (const adapter of ADAPTERS) {
      const runs: Priced['runs'] = [];
      // In a new process each time: V8 compiles the same code differently from process to process.
      for (let round = 0; round < rounds; round++) {
        process.stderr.write(`${route}, ${adapter}: run ${round + 1} of ${rounds}\n`);
        const server = await Server.start('ours', stores, cleanup, { adapter, BENCH_HASHING: 'cheapest' });
        const load = loadOf(server);
        const { cpuMicros } = await sample(load, seconds, { connections, stores });
        await server.get('/bench-stats?do=profile');
        await sample(load, seconds, { connections, stores });
        const profile = await server.get<Profiler.Profile>('/bench-stats?do=profiled');
        runs.push({ cpuMicros: cpuMicros!, shares: sharesOf(profile) });
        await server.stop();
      }
      priced.push({ name: `${route}, ${adapter}`, runs });
    }
  const [major] = process.versions.node.split('.');
  await publish(`prices on Node ${major}`, report(priced, connections));
}

const cleanup = new Cleanup();
main(cleanup)
  .catch((error: unknown) => cleanup.report(error))
  .finally(() => cleanup.run());
