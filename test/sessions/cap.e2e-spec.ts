import { SessionEnded, SessionStarted } from '@svc/auth';
import { TestApp, claimsOf } from '../support/hosts/app';

interface Started {
  accessToken: string;
  refreshToken: string;
}

const idOf = ({ accessToken }: Started): string => String(claimsOf(accessToken).fid);

/** Helpers that start sessions and read their state. */
function sessionHelpers(t: TestApp) {
  const statuses = async ({ accessToken, refreshToken }: Started): Promise<number[]> => [
    (await t.get('/private', accessToken)).status,
    (await t.refresh(refreshToken)).status,
  ];
  const activeIds = async (): Promise<string[]> =>
    (await t.database.query('SELECT id FROM svc_sessions WHERE revoked_at IS NULL ORDER BY id')).map(
      ({ id }: { id: string }) => id,
    );
  /** Starts a session, last used one second after the previous one. */
  const start = async (abilities?: string[], userId = 1): Promise<Started> => {
    t.clock.advance(1);
    return t.auth.startSession(userId, {}, abilities);
  };
  const startMany = async (count: number, abilities?: string[]): Promise<Started[]> => {
    const all: Started[] = [];
    for (let i = 0; i < count; i++) all.push(await start(abilities));
    return all;
  };
  return { statuses, activeIds, start, startMany };
}

describe('a hundred sessions of one user', () => {
  const t = TestApp.forFile();
  const { statuses, activeIds, startMany } = sessionHelpers(t);

  it('are the maximum: the next login ends the least recently used one at once', async () => {
    await t.person('ada@example.com');
    const sessions = await startMany(100);
    expect(await activeIds()).toHaveLength(100);
    t.clock.advance(1);
    // The oldest session is used again, so the second one is the least recently used.
    const { body } = await t.refresh(sessions[0]!.refreshToken).expect(200);
    t.clock.advance(1);
    const ended = t.recorded(SessionEnded);
    const last = await t.session();
    expect(await activeIds()).toHaveLength(100);
    expect(ended).toEqual([
      {
        guard: 'api',
        userId: '1',
        familyId: idOf(sessions[1]!),
        client: { ip: null, userAgent: null },
        amr: [],
        reason: 'cap',
      },
    ]);
    expect(await statuses(sessions[1]!)).toEqual([401, 401]);
    for (const session of [
      { accessToken: body.access_token, refreshToken: body.refresh_token },
      { accessToken: last.access_token, refreshToken: last.refresh_token },
      sessions[2]!,
      sessions[99]!,
    ])
      expect(await statuses(session)).toEqual([200, 200]);
  });
});

describe('a cap of three sessions', () => {
  const t = TestApp.forFile({ options: { sessions: { maxPerUser: 3 } } });
  const { statuses, activeIds, start, startMany } = sessionHelpers(t);
  beforeEach(async () => {
    await t.person('ada@example.com');
    await t.person('bob@example.com');
    await t.person('root@example.com', 'admin');
  });

  it('does not count pinned sessions, and ends none of them', async () => {
    const pinned = [...(await startMany(4, [])), ...(await startMany(4, ['orders.read']))];
    const [oldest, ...others] = await startMany(3);
    expect(await activeIds()).toHaveLength(11);
    const last = await start();
    expect(await statuses(oldest!)).toEqual([401, 401]);
    for (const session of [...pinned, ...others, last]) expect(await statuses(session)).toEqual([200, 200]);
  });

  it('ends no session when a pinned session starts', async () => {
    const ended = t.recorded(SessionEnded);
    const all = [...(await startMany(3)), ...(await startMany(3, ['a']))];
    expect(ended).toEqual([]);
    for (const session of all) expect(await statuses(session)).toEqual([200, 200]);
  });

  it('is counted for each user and each guard separately', async () => {
    const all = await startMany(3);
    for (let i = 0; i < 4; i++) {
      await start(undefined, 2);
      t.clock.advance(1);
      await t.auth.guard('admin').startSession(1);
    }
    for (const session of all) expect(await statuses(session)).toEqual([200, 200]);
    expect(await activeIds()).toHaveLength(9);
  });

  it('does not count ended or expired sessions, and ends none of them', async () => {
    const ended = t.recorded(SessionEnded);
    const [first, second] = await startMany(2);
    await t.auth.revoke(idOf(first!));
    await t.database.query(`UPDATE svc_sessions SET expires_at = now() - interval '1 s' WHERE id = $1`, [
      idOf(second!),
    ]);
    const all = await startMany(3);
    expect(ended.map(({ reason }) => reason)).toEqual(['revoked']);
    for (const session of all) expect(await statuses(session)).toEqual([200, 200]);
  });

  it('ends the surplus of earlier sessions at the next login', async () => {
    const before = await TestApp.start({ databaseUrl: t.databaseUrl, options: { sessions: { maxPerUser: 0 } } });
    const all: Started[] = [];
    for (let i = 0; i < 10; i++) {
      before.clock.advance(1);
      all.push(await before.auth.startSession(1));
    }
    await before.stop();
    t.clock.advance(20);
    const ended = t.recorded(SessionEnded);
    const last = await t.session();
    expect(ended.map(({ familyId }) => familyId).toSorted()).toEqual(all.slice(0, 8).map(idOf).toSorted());
    expect(new Set(ended.map(({ reason }) => reason))).toEqual(new Set(['cap']));
    expect((await activeIds()).toSorted()).toEqual(
      [...all.slice(8).map(idOf), String(claimsOf(last.access_token).fid)].toSorted(),
    );
  });

  it('is not exceeded by concurrent logins, which end exactly the surplus', async () => {
    for (let round = 0; round < 3; round++) {
      const before = (await activeIds()).length;
      const [started, ended] = [t.recorded(SessionStarted), t.recorded(SessionEnded)];
      const answers = await Promise.all(Array.from({ length: 20 }, async () => t.login('ada@example.com')));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      const alive = await activeIds();
      expect(alive).toHaveLength(3);
      expect([started.length, ended.length]).toEqual([20, before + 20 - 3]);
      expect(new Set(ended.map(({ familyId }) => familyId)).size).toBe(ended.length);
      for (const { body } of answers) {
        const session = { accessToken: body.access_token, refreshToken: body.refresh_token };
        expect(await statuses(session)).toEqual(alive.includes(idOf(session)) ? [200, 200] : [401, 401]);
      }
    }
  });

  it('ends no session when the login fails', async () => {
    const all = await startMany(3);
    const ended = t.recorded(SessionEnded);
    await t.login('ada@example.com', 'wrong').expect(422);
    await expect(t.auth.startSession(1, { claims: { huge: 1n } })).rejects.toThrow();
    expect(ended).toEqual([]);
    for (const session of all) expect(await statuses(session)).toEqual([200, 200]);
  });
});

describe('a cap of one session', () => {
  const t = TestApp.forFile({ options: { sessions: { maxPerUser: 1 } } });
  const { statuses, startMany } = sessionHelpers(t);

  it('ends the previous session at a login', async () => {
    await t.person('ada@example.com');
    const [first, second] = await startMany(2);
    expect(await statuses(first!)).toEqual([401, 401]);
    expect(await statuses(second!)).toEqual([200, 200]);
  });
});

describe('a cap of 0', () => {
  const t = TestApp.forFile({ options: { sessions: { maxPerUser: 0 } } });
  const { activeIds, startMany } = sessionHelpers(t);

  it('is no limit', async () => {
    await t.person('ada@example.com');
    const ended = t.recorded(SessionEnded);
    await startMany(105);
    await t.session();
    expect([(await activeIds()).length, ended]).toEqual([106, []]);
  });
});
