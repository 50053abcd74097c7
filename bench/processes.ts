// Two processes behind one PostgreSQL and one Redis, beside one.
import { Cleanup } from './cleanup';
import { guarded, refresh } from './groups/group';
import { Client } from './growth/client';
import type { Load } from './load';
import { publish } from './page';
import { CROSSING_SESSIONS, cross } from './processes/crossing';
import { type Scaled, report } from './processes/report';
import { spreadLoad } from './processes/spread-load';
import { Server } from './server';
import { readSettings } from './settings';
import { startStores } from './stores';

const WARM_UP_SECONDS = 2;

async function main(cleanup: Cleanup): Promise<void> {
  const { rounds, seconds, connections } = readSettings({ BENCH_SECONDS: '3', ...process.env });
  cleanup.deadline(300 + 8 * (rounds + 1) * (seconds + 5));
  const stores = await startStores(cleanup);
  const start = (): Promise<Server> => Server.start('ours', stores, cleanup, { BENCH_QUIET: '1' });
  const servers = [await start(), await start()];
  const [one, other] = servers.map(({ url }) => new Client(url, 1)) as [Client, Client];
  cleanup.add(() => [one, other].forEach((client) => client.close()));
  const crossed = await cross(one, other, await servers[0]!.sessions('', CROSSING_SESSIONS));

  const kinds: [name: string, to: (server: Server) => Load][] = [
    ['guarded GET', (server) => guarded('guarded', server, '', '/guarded')],
    ['`POST /auth/refresh`', (server) => refresh('refresh', server, '', '/auth/refresh')],
  ];
  const load = (to: (server: Server) => Load, processes: number, length: number) =>
    spreadLoad(servers.slice(0, processes).map(to), { connections, seconds: length, stores });
  for (const [, to] of kinds) await load(to, 2, WARM_UP_SECONDS);
  const scaled: Scaled[] = kinds.map(([name]) => ({ name, one: [], two: [] }));
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
    for (const [i, [, to]] of kinds.entries())
      for (const processes of round % 2 ? [2, 1] : [1, 2])
        scaled[i]![processes === 1 ? 'one' : 'two'].push(await load(to, processes, seconds));
  }
  await publish('processes', report({ connections, seconds, version: stores.version, scaled, crossed }));
}

const cleanup = new Cleanup();
main(cleanup)
  .catch((error: unknown) => cleanup.report(error))
  .finally(() => cleanup.run());
