import { redisBinary } from '../support/stores/redis';
import { RedisSentinels } from '../support/stores/redis-sentinels';
import { type KillableEngine, onSharedPostgres } from './engine';
import { flows } from './flows';
import { killMatrix } from './kill-matrix';

/** Every second kill promotes a replica that lacks the latest writes. */
async function start(): Promise<KillableEngine> {
  // node-redis prints a message for an unreachable master.
  jest.spyOn(console, 'log').mockReturnValue();
  const sentinels = await RedisSentinels.start();
  const connect = async () => {
    const client = await sentinels.connect();
    return { cache: client, close: async () => void client.destroy() };
  };
  const engine = await onSharedPostgres(connect, () => sentinels.stop());
  return {
    ...engine,
    prepare: async (round) => round % 2 === 0 && sentinels.cutReplication(),
    kill: (meanwhile) => sentinels.failover(true, meanwhile),
    repair: () => sentinels.replaceReplica(),
  };
}

const engine = {
  name: 'PostgreSQL 18 and Redis Sentinel with node-redis 5',
  missing: redisBinary ? undefined : 'redis-server',
  start,
};
flows(engine);
killMatrix(engine);
