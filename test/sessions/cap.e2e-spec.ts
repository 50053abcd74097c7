import { SessionEnded, SessionStarted } from '@svc/auth';
import { TestApp, claimsOf } from '../support/app';

interface Started {
  accessToken: string;
  refreshToken: string;
}

const idOf = ({ accessToken }: Started): string => String(claimsOf(accessToken).fid);

/** What the cap of one application is tried with. */
function tried(t: TestApp) {
  const statuses = async ({ accessToken, refreshToken }: Started): Promise<number[]> => [
    (await t.get('/private', accessToken)).status,
    (await t.refresh(refreshToken)).status,
  ];
  const living = async (): Promise<string[]> =>
    (await t.database.query('SELECT id FROM svc_sessions WHERE revoked_at IS NULL ORDER BY id')).map(
      ({ id }: { id: string }) => id,
    );
  /** A session that is used for the last time a second after the one before. */
  const start = async (abilities?: string[], userId = 1): Promise<Started> => {
    t.clock.advance(1);
    return t.auth.startSession(userId, {}, abilities);
  };
  const several = async (count: number, abilities?: string[]): Promise<Started[]> => {
    const all: Started[] = [];
    for (let i = 0; i < count; i++) all.push(await start(abilities));
    return all;
  };
  return { statuses, living, start, several };
}

describe('a hundred sessions of one user', () => {
  const t = TestApp.forFile();
  const { statuses, living, several } = tried(t);

  it('are as many as there can be: the next login ends the one used longest ago, at once', async () => {
    await t.person('ada@example.com');
    const sessions = await several(100);
    expect(await living()).toHaveLength(100);
    t.clock.advance(1);
    // The oldest one is used, so the second one is the one that goes.
    const { body } = await t.refresh(sessions[0]!.refreshToken).expect(200);
    t.clock.advance(1);
    const ended = t.recorded(SessionEnded);
    const last = await t.session();
    expect(await living()).toHaveLength(100);
    expect(ended).toEqual([
      {
        guard: 'api',
        userId: '1',
        sessionId: idOf(sessions[1]!),
        client: { ip: null, userAgent: null },
        amr: [],
        reason: 'cap',
      },
    ]);
    expect(await statuses(sessions[1]!)).toEqual([401, 401]);
    for (const one of [
      { accessToken: body.access_token, refreshToken: body.refresh_token },
      { accessToken: last.access_token, refreshToken: last.refresh_token },
      sessions[2]!,
      sessions[99]!,
    ])
      expect(await statuses(one)).toEqual([200, 200]);
  });
});

describe('a cap of three sessions', () => {
  const t = TestApp.forFile({ options: { sessions: { maxPerUser: 3 } } });
  const { statuses, living, start, several } = tried(t);
  beforeEach(async () => {
    await t.person('ada@example.com');
    await t.person('bob@example.com');
    await t.person('root@example.com', 'admin');
  });

  it('counts no session that is pinned, and ends none', async () => {
    const pinned = [...(await several(4, [])), ...(await several(4, ['orders.read']))];
    const [oldest, ...others] = await several(3);
    expect(await living()).toHaveLength(11);
    const last = await start();
    expect(await statuses(oldest!)).toEqual([401, 401]);
    for (const one of [...pinned, ...others, last]) expect(await statuses(one)).toEqual([200, 200]);
  });

  it('ends nothing where a pinned session starts', async () => {
    const ended = t.recorded(SessionEnded);
    const all = [...(await several(3)), ...(await several(3, ['a']))];
    expect(ended).toEqual([]);
    for (const one of all) expect(await statuses(one)).toEqual([200, 200]);
  });

  it('is each user`s and each guard`s own', async () => {
    const all = await several(3);
    for (let i = 0; i < 4; i++) {
      await start(undefined, 2);
      t.clock.advance(1);
      await t.auth.guard('admin').startSession(1);
    }
    for (const one of all) expect(await statuses(one)).toEqual([200, 200]);
    expect(await living()).toHaveLength(9);
  });

  it('counts no session that ended or is past its deadline, and ends none of them', async () => {
    const ended = t.recorded(SessionEnded);
    const [first, second] = await several(2);
    await t.auth.revoke(idOf(first!));
    await t.database.query(`UPDATE svc_sessions SET expires_at = now() - interval '1 s' WHERE id = $1`, [
      idOf(second!),
    ]);
    const all = await several(3);
    expect(ended.map(({ reason }) => reason)).toEqual(['revoked']);
    for (const one of all) expect(await statuses(one)).toEqual([200, 200]);
  });

  it('brings down what was there before it was set, with the next login', async () => {
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
    expect(ended.map(({ sessionId }) => sessionId).toSorted()).toEqual(all.slice(0, 8).map(idOf).toSorted());
    expect(new Set(ended.map(({ reason }) => reason))).toEqual(new Set(['cap']));
    expect((await living()).toSorted()).toEqual(
      [...all.slice(8).map(idOf), String(claimsOf(last.access_token).fid)].toSorted(),
    );
  });

  it('is kept by many logins at once, which end exactly as many as needed', async () => {
    for (let round = 0; round < 3; round++) {
      const before = (await living()).length;
      const [started, ended] = [t.recorded(SessionStarted), t.recorded(SessionEnded)];
      const answers = await Promise.all(Array.from({ length: 20 }, async () => t.login('ada@example.com')));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      const alive = await living();
      expect(alive).toHaveLength(3);
      expect([started.length, ended.length]).toEqual([20, before + 20 - 3]);
      expect(new Set(ended.map(({ sessionId }) => sessionId)).size).toBe(ended.length);
      for (const { body } of answers) {
        const one = { accessToken: body.access_token, refreshToken: body.refresh_token };
        expect(await statuses(one)).toEqual(alive.includes(idOf(one)) ? [200, 200] : [401, 401]);
      }
    }
  });

  it('ends nothing where the login fails after all', async () => {
    const all = await several(3);
    const ended = t.recorded(SessionEnded);
    await t.login('ada@example.com', 'wrong').expect(422);
    await expect(t.auth.startSession(1, { claims: { huge: 1n } })).rejects.toThrow();
    expect(ended).toEqual([]);
    for (const one of all) expect(await statuses(one)).toEqual([200, 200]);
  });
});

describe('a cap of one session', () => {
  const t = TestApp.forFile({ options: { sessions: { maxPerUser: 1 } } });
  const { statuses, several } = tried(t);

  it('ends the one that is there', async () => {
    await t.person('ada@example.com');
    const [first, second] = await several(2);
    expect(await statuses(first!)).toEqual([401, 401]);
    expect(await statuses(second!)).toEqual([200, 200]);
  });
});

describe('a cap of 0', () => {
  const t = TestApp.forFile({ options: { sessions: { maxPerUser: 0 } } });
  const { living, several } = tried(t);

  it('is none', async () => {
    await t.person('ada@example.com');
    const ended = t.recorded(SessionEnded);
    await several(105);
    await t.session();
    expect([(await living()).length, ended]).toEqual([106, []]);
  });
});
