import { SecurityStore } from '@svc/auth';
import { clusterStore } from '@svc/auth/redis-cluster';
import { claimsOf } from '../support/hosts/app';
import { Deployment } from '../support/packages/deployment';
import { eventually } from '../support/runtime/eventually';
import { type ClusterClient, RedisCluster } from '../support/stores/redis-cluster';
import { RACES_MS } from '../support/runtime/rounds';
import type { TokenPolling } from '../support/clients/token-polling';
import { VerifyingService } from '../support/hosts/verifying-service';
import { completeChallenge, enrol, startChallenge } from '../support/flows/two-factor';
import { describeWithOwnRedis } from '../support/stores/with-redis';

/** The numbers of ended and of live sessions. Each master has some of both: of 40 none with a probability of 10^-7. */
const [ENDED, LIVE] = [100, 40];

const LEASE = 'svc:dl:lease';

describeWithOwnRedis('an application on Redis Cluster', () => {
  let cluster: RedisCluster;
  let deployment: Deployment;
  const clients: ClusterClient[] = [];

  beforeAll(async () => {
    cluster = await RedisCluster.start();
    const connect = async (version: 4 | 5) => {
      const client = await cluster.connect(version);
      clients.push(client);
      return clusterStore(client);
    };
    // One issuing node uses node-redis 4, the other one node-redis 5.
    const versions = [4, 5] as const;
    let started = 0;
    deployment = await Deployment.start(
      async () => ({
        redisUrl: '',
        options: {
          cache: await connect(versions[started++]!),
          features: { twoFactor: true },
          rateLimits: { login: { ipMaxAttempts: 1000 } },
        },
      }),
      async () => VerifyingService.on(await connect(5), async () => undefined),
    );
  }, RACES_MS);
  afterAll(async () => {
    await deployment.stop();
    for (const client of clients) await client.disconnect();
    await cluster.stop();
  });
  beforeEach(() => void jest.spyOn(console, 'log').mockReturnValue());

  const started = async (): Promise<{ ended: string[]; live: string[] }> => {
    const [ended, live] = [await deployment.sessions(1, ENDED), await deployment.sessions(2, LIVE)];
    await deployment.service.opened(live[0]!);
    return { ended, live };
  };

  const tagOf = (token: string): string => deployment.t.app.get(SecurityStore).slotTag(String(claimsOf(token).fid));

  const slotOf = async (token: string): Promise<number> =>
    Number(await cluster.command(0, 'CLUSTER', 'KEYSLOT', tagOf(token)));

  /** The pair of servers that stores the denial of a session. */
  const pairOf = async (token: string): Promise<number> => cluster.pairOf(await slotOf(token));

  /** A user with a second factor. */
  const enrolled = async (email: string): Promise<{ userId: string; recoveryCodes: string[] }> => {
    const userId = await deployment.t.person(email);
    const { recoveryCodes } = await enrol(deployment.t, email);
    // The other services use the time of the machine.
    deployment.t.clock.reset();
    return { userId, recoveryCodes };
  };

  it(
    'signs in with a second factor, refreshes and signs out, on each node',
    async () => {
      const { recoveryCodes } = await enrolled('eve@example.com');
      for (const [i, t] of [deployment.t, deployment.other].entries()) {
        const challenge = await startChallenge(t, 'eve@example.com');
        const body = { challenge_token: challenge, recovery_code: recoveryCodes[i] };
        const { body: tokens } = await completeChallenge(t, body).expect(200);
        await completeChallenge(t, { ...body, recovery_code: recoveryCodes[i + 2] }).expect(422);
        const { body: refreshed } = await t.refresh(tokens.refresh_token).expect(200);
        expect(await deployment.service.status(refreshed.access_token)).toBe(200);
        await t.call('post', '/auth/logout', refreshed.access_token).expect(204);
        expect(await deployment.service.status(refreshed.access_token)).toBe(401);
        for (const node of [deployment.t, deployment.other]) {
          await node.get('/private', refreshed.access_token).expect(401);
          await node.refresh(refreshed.refresh_token).expect(401);
        }
      }
    },
    RACES_MS,
  );

  it(
    'refuses failed logins above the limit, counted by both nodes',
    async () => {
      await deployment.t.person('mallory@example.com');
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (i % 2 ? deployment.t : deployment.other).login('mallory@example.com', 'wrong'),
        ),
      );
      expect(answers.filter(({ status }) => status === 422)).toHaveLength(5);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(15);
    },
    RACES_MS,
  );

  it.each<[what: string, lose: (ended: string, watch: TokenPolling) => Promise<unknown>]>([
    ['one master is flushed', () => cluster.command(1, 'FLUSHALL')],
    [
      'one master is killed and its replica is promoted',
      async () => {
        await cluster.killMaster(0);
        await cluster.awaitPromotion();
        await cluster.restore();
      },
    ],
    [
      'a replica without any of the denials takes over',
      async () => {
        await cluster.failover(2, true);
        await cluster.restore();
      },
    ],
    [
      'a master hangs until its replica is promoted, and then continues',
      async () => {
        const thaw = await cluster.freezeMaster(1);
        try {
          await cluster.awaitPromotion();
        } finally {
          thaw();
        }
        await cluster.restore();
      },
    ],
    [
      'a slot with a denial moves',
      async (ended, watch) => {
        const pair = ((await pairOf(ended)) + 1) % 3;
        await cluster.moveSlot(await slotOf(ended), pair, () => watch.rounds(1));
      },
    ],
    [
      'a slot begins to move, the other master loses the denials, and the move is cancelled',
      async (ended, watch) => {
        const [slot, pair, tag] = [await slotOf(ended), await pairOf(ended), tagOf(ended)];
        const isMarked = () =>
          cluster.command(pair, 'EXISTS', `svc:dl:complete${tag}`).then(
            (count) => Number(count) === 1,
            // ASK: a key that the master does not have any more.
            () => false,
          );
        await cluster.cancelMove(
          slot,
          (pair + 1) % 3,
          (key) => key.includes('dl:fid:'),
          async () => {
            await watch.rounds(1);
            await eventually(async () => !(await isMarked()));
          },
        );
      },
    ],
  ])(
    'accepts no ended session while %s',
    async (what, lose) => {
      const tokens = await started();
      if (what.includes('without any')) {
        await cluster.awaitReplication(2);
        await cluster.cutReplication(2);
      }
      await deployment.end(tokens.ended);
      await deployment.expectNoneAccepted(tokens, async (watch) => {
        await lose(tokens.ended[0]!, watch);
        await watch.rounds(1);
      });
    },
    RACES_MS,
  );

  it.each<[what: string, lose: (pair: number) => Promise<unknown>]>([
    ['flushed', (pair) => cluster.command(pair, 'FLUSHALL')],
    [
      'replaced',
      async (pair) => {
        await cluster.awaitReplication(pair);
        // Otherwise the master of the lease answers nothing before the promotion, and a node repairs without the lease.
        for (const one of [0, 1, 2]) await cluster.command(one, 'CONFIG', 'SET', 'cluster-require-full-coverage', 'no');
        await cluster.killMaster(pair);
        await cluster.awaitPromotion();
        await cluster.restore();
      },
    ],
  ])(
    'answers 503 in a service that only verifies, for the sessions of a master that was %s only, until it is repaired',
    async (what, lose) => {
      const { ended, live } = await started();
      await deployment.end(ended);
      const pairs = new Map<string, number>();
      for (const token of [...ended, ...live]) pairs.set(token, await pairOf(token));
      const leasePair = await cluster.pairOf(Number(await cluster.command(0, 'CLUSTER', 'KEYSLOT', LEASE)));
      const lost = (leasePair + 1) % 3;
      // A stopped node holds the lease, so that no node repairs the store.
      await eventually(async () => (await cluster.command(leasePair, 'SET', LEASE, 'x', 'PX', 600_000, 'NX')) === 'OK');
      await lose(lost);
      const usual = (token: string): number => (ended.includes(token) ? 401 : 200);
      // Connections may have been replaced: of the service to the other masters, and of the nodes to the promoted one.
      const [other, own] = [false, true].map((isOwn) => live.find((token) => (pairs.get(token) === lost) === isOwn)!);
      await eventually(async () => (await deployment.service.status(other!)) === 200);
      for (const node of [deployment.t, deployment.other])
        await eventually(async () => (await node.get('/private', own!)).status === 200);
      for (const [token, pair] of pairs) {
        // A replica that was promoted has the denials. A live session cannot be distinguished from one whose denial it lacks.
        const isKnown = pair !== lost || (what === 'replaced' && ended.includes(token));
        // The connection of the service to the promoted master may be new, too.
        if (isKnown) await eventually(async () => (await deployment.service.status(token)) !== 503);
        expect(await deployment.service.status(token)).toBe(isKnown ? usual(token) : 503);
        for (const node of [deployment.t, deployment.other]) await node.get('/private', token).expect(usual(token));
      }
      expect([...pairs.values()].filter((pair) => pair === lost).length).toBeGreaterThan(0);
      await cluster.command(leasePair, 'DEL', LEASE);
      await eventually(async () => {
        const statuses = await Promise.all(live.map((token) => deployment.service.status(token)));
        return statuses.every((status) => status === 200);
      });
      for (const token of ended) expect(await deployment.service.status(token)).toBe(401);
    },
    RACES_MS,
  );

  it(
    'ends the login challenges of a user when the master of their records is flushed, and not those of others',
    async () => {
      const { userId, recoveryCodes } = await enrolled('carol@example.com');
      const tag = deployment.t.app.get(SecurityStore).slotTag(userId);
      const own = await cluster.pairOf(Number(await cluster.command(0, 'CLUSTER', 'KEYSLOT', tag)));
      const complete = (challenge: string, code: number) =>
        completeChallenge(deployment.other, { challenge_token: challenge, recovery_code: recoveryCodes[code] });
      const kept = await startChallenge(deployment.t, 'carol@example.com');
      await cluster.command((own + 1) % 3, 'FLUSHALL');
      await complete(kept, 0).expect(200);
      const [used, lost] = [kept, await startChallenge(deployment.t, 'carol@example.com')];
      await cluster.command(own, 'FLUSHALL');
      for (const challenge of [used, lost]) await complete(challenge, 1).expect(422);
      await complete(await startChallenge(deployment.t, 'carol@example.com'), 1).expect(200);
    },
    RACES_MS,
  );
});
