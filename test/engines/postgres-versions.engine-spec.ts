import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PostgresServer } from '../support/stores/postgres';
import { sharedRedisUrl } from '../support/stores/with-redis';
import { type KillableEngine, onSharedRedis } from './engine';
import { flows } from './flows';
import { killMatrix } from './kill-matrix';

/** The folder in which Debian installs each version. */
const DEBIAN = '/usr/lib/postgresql';

/** The folders of other versions, from `TEST_POSTGRES_BIN` or from Debian's packages. */
function folders(): string[] {
  const { TEST_POSTGRES_BIN: named } = process.env;
  const installed = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, 'bin')) : [];
  return (named ? named.split(':') : installed).filter((bin) => existsSync(join(bin, 'initdb')));
}

const versionOf = (bin: string): string =>
  spawnSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' }).stdout.split(' ')[2]!.trim();

/** A kill is a crash and a restart of the only server. */
async function start(bin: string): Promise<KillableEngine> {
  const postgres = await PostgresServer.start({}, bin);
  return {
    ...onSharedRedis(postgres.url, () => postgres.remove()),
    async kill(meanwhile) {
      await postgres.stop(true);
      await meanwhile();
      await postgres.startAgain();
    },
  };
}

const found = folders();
const missing = sharedRedisUrl() ? undefined : 'redis-server';
for (const bin of found) {
  const engine = { name: `PostgreSQL ${versionOf(bin)}, and Redis`, missing, start: () => start(bin) };
  flows(engine);
  killMatrix(engine);
}
if (found.length === 0)
  flows({
    name: 'another version of PostgreSQL',
    missing: 'its binaries in TEST_POSTGRES_BIN',
    start: () => Promise.reject(new Error('no binaries')),
  });
