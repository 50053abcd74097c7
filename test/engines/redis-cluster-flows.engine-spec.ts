import { clusterStore } from '@svc/auth/redis-cluster';
import { redisBinary } from '../support/stores/redis';
import { RedisCluster } from '../support/stores/redis-cluster';
import { type KillableEngine, onSharedPostgres } from './engine';
import { flows } from './flows';
import { killMatrix } from './kill-matrix';

const MASTERS = 3;

/** Kills the masters in turn. Every second kill promotes a replica that lacks the latest writes. */
async function start(version: 4 | 5): Promise<KillableEngine> {
  const cluster = await RedisCluster.start();
  const connect = async () => {
    const client = await cluster.connect(version);
    return { cache: clusterStore(client), close: () => client.disconnect() };
  };
  const engine = await onSharedPostgres(connect, () => cluster.stop());
  let next = 0;
  return {
    ...engine,
    prepare: async (round) => round % 2 === 0 && cluster.cutReplication(next),
    async kill(meanwhile) {
      await cluster.killMaster(next);
      await meanwhile();
      await cluster.awaitPromotion();
    },
    async repair() {
      await cluster.restore();
      next = (next + 1) % MASTERS;
    },
  };
}

for (const version of [4, 5] as const) {
  const engine = {
    name: `PostgreSQL 18 and Redis Cluster with node-redis ${version}`,
    missing: redisBinary ? undefined : 'redis-server',
    start: () => start(version),
  };
  flows(engine);
  killMatrix(engine);
}
