import { KeyedOrders, serviceKey } from '../support/flows/access-keys';
import { HostController } from '../support/hosts/host.module';
import { eventually } from '../support/runtime/eventually';
import { PostgresPair } from '../support/stores/postgres-pair';
import { sharedRedisUrl } from '../support/stores/with-redis';
import { type KillableEngine, onSharedRedis } from './engine';
import { flows } from './flows';
import { killMatrix } from './kill-matrix';
import { TwoNodes } from './nodes';

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

(sharedRedisUrl() ? describe : describe.skip)('an access key whose end a failover loses (needs redis-server)', () => {
  const nodes = new TwoNodes();
  let pair: PostgresPair;
  beforeAll(async () => {
    pair = await PostgresPair.start();
    const engine = onSharedRedis(pair.url, () => pair.remove());
    await nodes.start(engine, { features: { accessKeys: true } }, [HostController, KeyedOrders]);
  });
  afterAll(() => nodes.stop());

  it('stays refused on both nodes, and ends again', async () => {
    const { auth, database } = nodes.a.t;
    const [ended, living] = [await serviceKey(nodes.a.t), await serviceKey(nodes.b.t)];
    await pair.caughtUp();
    pair.replication.down();
    expect(await auth.accessKeys.revokeAny(ended.id)).toBe(true);
    await pair.failOver();
    const isRevoked = async (): Promise<boolean> => {
      const statement = 'SELECT revoked_at IS NOT NULL AS "isRevoked" FROM svc_access_keys WHERE id = $1';
      return (await database.query(statement, [ended.id]))[0].isRevoked;
    };
    // The end is lost.
    await eventually(() =>
      isRevoked().then(
        (is) => !is,
        () => false,
      ),
    );
    for (const node of nodes.all) {
      const use = async (token: string) => (await node.send({ method: 'GET', path: '/orders', token })).status;
      await eventually(async () => (await use(living.access_key)) === 200);
      expect(await use(ended.access_key)).toBe(401);
    }
    await eventually(isRevoked);
  });
});
