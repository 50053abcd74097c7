import { SecurityStore } from '../../foundation/security-store/security-store';
import { Realms } from '../../foundation/realm/realm';
import { FAMILY_KEYS, Denylist } from '../denylist/denylist';
import { TestApp, claimsOf } from '../../../../../test/support/hosts/app';
import { RedisServer } from '../../../../../test/support/stores/redis';
import { describeWithOwnRedis } from '../../../../../test/support/stores/with-redis';

const SESSIONS = 12;

describeWithOwnRedis('concurrent refreshes', () => {
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

  /** Starts sessions. The tests end every third one. */
  const sessions = () =>
    Promise.all(
      Array.from({ length: SESSIONS }, async (_, i) => {
        const { accessToken, refreshToken } = await t.auth.startSession(1);
        return { refreshToken, familyId: String(claimsOf(accessToken).fid), isEnded: i % 3 === 0 };
      }),
    );
  const ended = <One extends { isEnded: boolean }>(all: One[]): One[] => all.filter(({ isEnded }) => isEnded);

  it('read the denylist in one round trip, and each receives the result for its own session', async () => {
    const all = await sessions();
    await denylist.deny(ended(all).map(({ familyId }) => familyId));
    const reads = jest.spyOn(t.app.get(SecurityStore), 'getMany');
    const answers = await Promise.all(all.map(({ familyId }) => denylist.deniesFamily(familyId)));
    expect(answers).toEqual(all.map(({ isEnded }) => isEnded));
    // The denylist monitor of the application also reads the store.
    expect(reads.mock.calls.filter(([keys]) => keys.some((key) => key.startsWith(FAMILY_KEYS)))).toHaveLength(1);
  });

  it('are refused if only the denylist contains the end of the session', async () => {
    const all = await sessions();
    await denylist.deny(ended(all).map(({ familyId }) => familyId));
    const answers = await Promise.all(all.map(async ({ refreshToken }) => (await t.refresh(refreshToken)).status));
    expect(answers).toEqual(all.map(({ isEnded }) => (isEnded ? 401 : 200)));
  });

  it('are refused only for the ended sessions when Redis has lost the denylist', async () => {
    const all = await sessions();
    for (const { familyId } of ended(all)) await t.auth.revoke(familyId);
    await redis.flush();
    const answers = await Promise.all(all.map(async ({ refreshToken }) => (await t.refresh(refreshToken)).status));
    expect(answers).toEqual(all.map(({ isEnded }) => (isEnded ? 401 : 200)));
  });

  it('receive 503 while Redis is unavailable', async () => {
    const all = await sessions();
    await redis.stop();
    const answers = await Promise.all(all.map(async ({ refreshToken }) => (await t.refresh(refreshToken)).status));
    expect(new Set(answers)).toEqual(new Set([503]));
    await redis.start();
  });
});
