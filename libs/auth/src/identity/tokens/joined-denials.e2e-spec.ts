import { SecurityStore } from '../../foundation/security-store/security-store';
import { Realms } from '../../foundation/realm/realm';
import { FAMILY_KEYS, Denylist } from '../denylist/denylist';
import { TestApp, claimsOf } from '../../../../../test/support/app';
import { RedisServer } from '../../../../../test/support/redis';
import { describeWithOwnRedis } from '../../../../../test/support/with-redis';

const SESSIONS = 12;

describeWithOwnRedis('refreshes that arrive together', () => {
  let redis: RedisServer;
  let t: TestApp;
  let denylist: Denylist;

  beforeAll(async () => {
    redis = await RedisServer.start();
    t = await TestApp.start({ redisUrl: redis.url });
    await t.person('ada@example.com');
    denylist = t.app.get(Realms).default.get(Denylist);
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(async () => {
    await t.stop();
    await redis.stop();
  });

  /** Sessions and their ids; every third one is to be ended. */
  const sessions = () =>
    Promise.all(
      Array.from({ length: SESSIONS }, async (_, i) => {
        const { accessToken, refreshToken } = await t.auth.startSession(1);
        return { refreshToken, familyId: String(claimsOf(accessToken).fid), isEnded: i % 3 === 0 };
      }),
    );
  const ended = <One extends { isEnded: boolean }>(all: One[]): One[] => all.filter(({ isEnded }) => isEnded);

  it('learn in one round trip which of their sessions the denylist names, each its own', async () => {
    const all = await sessions();
    await denylist.deny(ended(all).map(({ familyId }) => familyId));
    const asked = jest.spyOn(t.app.get(SecurityStore), 'getMany');
    const answers = await Promise.all(all.map(({ familyId }) => denylist.deniesFamily(familyId)));
    expect(answers).toEqual(all.map(({ isEnded }) => isEnded));
    // The application looks after its denylist meanwhile.
    expect(asked.mock.calls.filter(([keys]) => keys.some((key) => key.startsWith(FAMILY_KEYS)))).toHaveLength(1);
  });

  it('are refused if only the denylist contains the end of the session', async () => {
    const all = await sessions();
    await denylist.deny(ended(all).map(({ familyId }) => familyId));
    const answers = await Promise.all(all.map(async ({ refreshToken }) => (await t.refresh(refreshToken)).status));
    expect(answers).toEqual(all.map(({ isEnded }) => (isEnded ? 401 : 200)));
  });

  it('are refused by PostgreSQL, each for its own session, where Redis has lost the denylist', async () => {
    const all = await sessions();
    for (const { familyId } of ended(all)) await t.auth.revoke(familyId);
    await redis.flush();
    const answers = await Promise.all(all.map(async ({ refreshToken }) => (await t.refresh(refreshToken)).status));
    expect(answers).toEqual(all.map(({ isEnded }) => (isEnded ? 401 : 200)));
  });

  it('are all undecided where Redis is down', async () => {
    const all = await sessions();
    await redis.stop();
    const answers = await Promise.all(all.map(async ({ refreshToken }) => (await t.refresh(refreshToken)).status));
    expect(new Set(answers)).toEqual(new Set([503]));
    await redis.start();
  });
});
