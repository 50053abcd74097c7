// Compares two and four processes on one PostgreSQL and one Redis with one process.
import { RedisServer } from '../test/support/stores/redis';
import { PEOPLE } from './apps/serve';
import { Cleanup } from './cleanup';
import { guarded, refresh } from './groups/group';
import { Client } from './growth/client';
import { fill } from './growth/fill';
import type { Load } from './load';
import { publish } from './page';
import { CROSSING_SESSIONS, checkAcrossProcesses } from './processes/cross-process';
import { SETTINGS, type Scaled, type Setting, report } from './processes/report';
import { spreadLoad } from './processes/spread-load';
import { Server } from './server';
import { readSettings } from './settings';
import { type Stores, startStores } from './stores';

const WARM_UP_SECONDS = 2;

async function main(cleanup: Cleanup): Promise<void> {
  const { rounds, seconds, connections } = readSettings({ BENCH_SECONDS: '3', ...process.env });
  cleanup.deadline(300 + 15 * (rounds + 1) * (seconds + 5));
  const stores = await startStores(cleanup);
  const start = (before: Stores): Promise<Server> => Server.start('ours', before, cleanup, { BENCH_QUIET: '1' });
  const servers = [await start(stores), await start(stores), await start(stores), await start(stores)];
  const behindOnePort = await Server.start('cluster', stores, cleanup, { BENCH_QUIET: '1' });
  const own = await ownStores(stores, cleanup);
  const stranger = await start(own);
  const [one, other] = servers.slice(0, 2).map(({ url }) => new Client(url, 1)) as [Client, Client];
  cleanup.add(() => [one, other].forEach((client) => client.close()));
  const crossed = await checkAcrossProcesses(one, other, await servers[0]!.sessions('', CROSSING_SESSIONS));

  const kinds: [name: string, to: (server: Server) => Load][] = [
    ['guarded GET', (server) => guarded('guarded', server, '', '/guarded')],
    ['`POST /auth/refresh`', (server) => refresh('refresh', server, '', '/auth/refresh')],
  ];
  const behind: Record<Setting, Server[]> = {
    one: servers.slice(0, 1),
    two: servers.slice(0, 2),
    cluster: [behindOnePort],
    four: servers,
    apart: [servers[0]!, stranger],
  };
  const load = (to: (server: Server) => Load, setting: Setting, length: number) =>
    spreadLoad(behind[setting].map(to), { connections, seconds: length, stores: [stores, own] });
  for (const [, to] of kinds) for (const setting of SETTINGS) await load(to, setting, WARM_UP_SECONDS);
  const scaled: Scaled[] = [];
  for (const [name, to] of kinds) {
    const alone = await spreadLoad([to(servers[0]!)], { connections: 1, seconds, stores: [stores] });
    scaled.push({ name, alone, one: [], two: [], cluster: [], four: [], apart: [] });
  }
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
    for (const [i, [, to]] of kinds.entries())
      for (const setting of round % 2 ? SETTINGS.toReversed() : SETTINGS)
        scaled[i]![setting].push(await load(to, setting, seconds));
  }
  await publish('processes', report({ connections, seconds, version: stores.version, scaled, crossed }));
}

/** A separate database and Redis for a process that shares only the machine with the others. */
async function ownStores(stores: Stores, cleanup: Cleanup): Promise<Stores> {
  const redis = await RedisServer.start();
  cleanup.add(() => redis.stop());
  const { url } = await fill(4 * PEOPLE, 0, { sizes: [], repetitions: 0 });
  return { ...stores, databaseUrl: url, redisUrl: redis.url };
}

const cleanup = new Cleanup();
main(cleanup)
  .catch((error: unknown) => cleanup.report(error))
  .finally(() => cleanup.run());
