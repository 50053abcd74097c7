import { PostgresPair } from '../support/stores/postgres-pair';
import { sharedRedisUrl } from '../support/stores/with-redis';
import { type KillableEngine, onSharedRedis } from './engine';
import { flows } from './flows';
import { killMatrix } from './kill-matrix';

/** Clients reach the primary through a proxy, which is moved to the promoted standby. */
async function start(isSynchronous: boolean): Promise<KillableEngine> {
  const pair = await PostgresPair.start();
  if (isSynchronous) await pair.synchronous(true);
  return {
    ...onSharedRedis(pair.url, () => pair.remove()),
    // Every third kill forwards clients to the standby before its promotion.
    kill: (meanwhile, round) => pair.failOver(meanwhile, round % 3 === 0),
    async repair() {
      await pair.replaceStandby();
      await pair.caughtUp();
      if (isSynchronous) await pair.synchronous(true);
    },
    ...(!isSynchronous && {
      secure: () => pair.caughtUp(),
      // Every second kill loses commits.
      prepare: async (round: number) => void (round % 2 === 0 && pair.replication.down()),
    }),
  };
}

for (const kind of ['a synchronous', 'an asynchronous']) {
  const engine = {
    name: `PostgreSQL 18 with ${kind} standby, and Redis`,
    missing: sharedRedisUrl() ? undefined : 'redis-server',
    start: () => start(kind === 'a synchronous'),
  };
  flows(engine);
  killMatrix(engine);
}
