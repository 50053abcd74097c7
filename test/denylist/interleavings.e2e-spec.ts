import * as fc from 'fast-check';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { TestApp, claimsOf } from '../support/hosts/app';
import { rounds } from '../support/runtime/rounds';
import { COMPLETE, LEASE } from '../support/stores/denylist-state';
import { type RedisClient, RedisServer } from '../support/stores/redis';
import { describeWithOwnRedis } from '../support/stores/with-redis';

interface Started {
  token: string;
  user: number;
  ended: boolean;
}

/** The state on which the steps act. */
interface World {
  nodes: TestApp[];
  client: RedisClient;
  sessions: Started[];
}

type Step = (world: World) => Promise<unknown>;

const USERS = 2;

const start =
  (node: number, user: number): Step =>
  async ({ nodes, sessions }) => {
    const { accessToken: token } = await nodes[node]!.auth.startSession(user + 1);
    sessions.push({ token, user, ended: false });
  };

/** The next step does not wait for this one: a loss may happen at any point of it. */
const end =
  (node: number, which: number, all: boolean): Step =>
  async ({ nodes, sessions }) => {
    const chosen = sessions[which % Math.max(sessions.length, 1)];
    if (!chosen) return;
    const { auth } = nodes[node]!;
    if (all) await auth.revokeAll(chosen.user + 1);
    else await auth.revoke(String(claimsOf(chosen.token).fid));
    for (const one of sessions) if (one === chosen || (all && one.user === chosen.user)) one.ended = true;
  };

const use =
  (node: number, which: number): Step =>
  async ({ nodes, sessions }) => {
    const chosen = sessions[which % Math.max(sessions.length, 1)];
    if (!chosen) return;
    const endedBefore = chosen.ended;
    const { status } = await nodes[node]!.get('/private', chosen.token);
    if (endedBefore) expect(status).toBe(401);
    else if (!chosen.ended) expect([200, 401]).toContain(status);
  };

const lose: Record<string, Step> = {
  everything: ({ client }) => client.flushAll(),
  'the completeness marker': ({ client }) => client.del(COMPLETE),
  'the marker of the store': ({ client }) => client.del('svc:store'),
  'the lease': ({ client }) => client.del(LEASE),
};

const [node, which] = [fc.nat(1), fc.nat(20)];
type Named = [string, Step];
const starting = fc.tuple(node, fc.nat(USERS - 1)).map((a): Named => [`start ${a}`, start(...a)]);
const others = fc.oneof(
  { weight: 2, arbitrary: fc.tuple(node, which, fc.boolean()).map((a): Named => [`end ${a}`, end(...a)]) },
  { weight: 4, arbitrary: fc.tuple(node, which).map((a): Named => [`use ${a}`, use(...a)]) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(...Object.entries(lose)).map(([name, step]): Named => [`lose ${name}`, step]),
  },
);
/** Some steps run concurrently, but not starts: a concurrent end of all sessions may or may not include them. */
const atOnce = fc.oneof(
  starting.map((step) => [step]),
  fc.array(others, { minLength: 1, maxLength: 4 }),
);
const script = fc.array(atOnce, { minLength: 3, maxLength: 20 });

describeWithOwnRedis('two nodes, under any interleaving of session starts, session ends and store losses', () => {
  let redis: RedisServer;
  let nodes: TestApp[];
  let client: RedisClient;

  beforeAll(async () => {
    redis = await RedisServer.start();
    const t = await TestApp.start({ redisUrl: redis.url });
    nodes = [t, await TestApp.start({ redisUrl: redis.url, databaseUrl: t.databaseUrl })];
    for (let user = 0; user < USERS; user++) await t.person(`${user}@example.com`);
    ({ client } = await redisCache(redis.url));
  });
  afterAll(async () => {
    await client.disconnect();
    for (const t of nodes.toReversed()) await t.stop();
    await redis.stop();
  });

  it('accept no token after the end of its session was answered, and refuse no other token', async () => {
    await fc.assert(
      fc.asyncProperty(script, async (batches) => {
        const world: World = { nodes, client, sessions: [] };
        for (const batch of batches) await Promise.all(batch.map(([, step]) => step(world)));
        for (const { token, ended } of world.sessions) {
          for (const t of nodes) expect((await t.get('/private', token)).status).toBe(ended ? 401 : 200);
        }
      }),
      { numRuns: rounds(15) },
    );
  });
});
