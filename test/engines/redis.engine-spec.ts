import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisServer, redisBinary } from '../support/stores/redis';
import { type KillableEngine, nodeRedis4, nodeRedis5, onSharedPostgres } from './engine';
import { flows } from './flows';
import { killMatrix } from './kill-matrix';

const missing = redisBinary ? undefined : 'redis-server';

/** A Redis as the documentation recommends it. A kill restarts it. */
async function start(connect: typeof nodeRedis4): Promise<KillableEngine> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-redis-'));
  const redis = await RedisServer.start('--appendonly', 'yes', '--dir', directory);
  const engine = await onSharedPostgres(
    () => connect(redis.url),
    async () => {
      await redis.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  );
  const kill = async (meanwhile: () => Promise<unknown>): Promise<void> => {
    await redis.stop();
    await meanwhile();
    await redis.start();
  };
  return { ...engine, kill };
}

for (const [version, connect] of [
  [4, nodeRedis4],
  [5, nodeRedis5],
] as const) {
  const engine = {
    name: `PostgreSQL 18 and Redis with node-redis ${version}`,
    missing,
    start: () => start(connect),
  };
  flows(engine);
  killMatrix(engine);
}
