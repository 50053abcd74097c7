import { PostgresPair } from '../support/stores/postgres-pair';
import { sharedRedisUrl } from '../support/stores/with-redis';
import { onSharedRedis } from './engine';
import { flows } from './flows';

/** The standby replays no commit while the flows run: a read of it would return old data. */
flows({
  name: 'PostgreSQL 18 with a read replica in the data source of TypeORM, and Redis',
  missing: sharedRedisUrl() ? undefined : 'redis-server',
  async start() {
    const pair = await PostgresPair.start();
    pair.replication.down();
    return { ...onSharedRedis(pair.url, () => pair.remove()), replicaUrl: pair.standbyUrl };
  },
});
