import { createDatabase } from '../support/stores/database';
import { PgBouncer, pgbouncerBinary } from '../support/stores/pgbouncer';
import { TcpProxy } from '../support/faults/tcp-proxy';
import { sharedRedisUrl } from '../support/stores/with-redis';
import { type KillableEngine, onSharedRedis } from './engine';
import { flows } from './flows';
import { killMatrix } from './kill-matrix';

/** A session needs a connection of the server for each connection of the two pools of clients. */
const SETTINGS = { session: { default_pool_size: '60' }, transaction: { default_pool_size: '10' } };

/** Clients reach the pooler through a proxy, because each start has another port. A kill restarts the pooler. */
async function start(mode: 'session' | 'transaction', isPreparing: boolean): Promise<KillableEngine> {
  const database = await createDatabase();
  const launch = () => PgBouncer.start({ target: database.url, mode, settings: SETTINGS[mode] });
  let pooler = await launch();
  const portOf = ({ url }: PgBouncer): number => Number(new URL(url).port);
  const proxy = await TcpProxy.to(portOf(pooler));
  const stop = async () => {
    await proxy.close();
    await pooler.stop();
    await database.drop();
  };
  return {
    ...onSharedRedis(proxy.through(pooler.url), stop, { preparedStatements: isPreparing }),
    async kill(meanwhile) {
      await pooler.stop();
      await meanwhile();
      pooler = await launch();
      proxy.target = portOf(pooler);
    },
  };
}

const missing = pgbouncerBinary ? (sharedRedisUrl() ? undefined : 'redis-server') : 'pgbouncer';
const ENGINES = [
  ['PgBouncer in transaction mode without prepared statements', 'transaction', false],
  ['PgBouncer in session mode', 'session', true],
] as const;
for (const [name, mode, isPreparing] of ENGINES) {
  const engine = { name: `PostgreSQL 18 behind ${name}, and Redis`, missing, start: () => start(mode, isPreparing) };
  flows(engine);
  killMatrix(engine);
}
