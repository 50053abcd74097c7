import { Pruning, SessionEnded } from '@svc/auth';
import { NestFactory } from '@nestjs/core';
import { TestApp, claimsOf } from '../support/hosts/app';
import { HostModule } from '../support/hosts/host.module';

const IDLE = 1800;
const REFRESH_TTL = 86_400;
/** The life of an access token, with leeway and the margin for clocks. */
const LIFE = 900 + 5 + 60;

const idOf = (accessToken: string): string => String(claimsOf(accessToken).fid);

describe('an idle time', () => {
  const t = TestApp.forFile({
    options: {
      refreshTtl: REFRESH_TTL,
      sessions: { idleTimeout: IDLE, maxPerUser: 2 },
      guards: { admin: { sessions: { idleTimeout: 0 } } },
    },
  });
  beforeEach(async () => {
    t.clock.stop();
    await t.person('ada@example.com');
    await t.person('root@example.com', 'admin');
  });
  const listed = async (accessToken: string): Promise<{ id: string; last_used_at: string; expires_at: string }[]> =>
    (await t.get('/auth/sessions', accessToken).expect(200)).body.data;
  const refreshed = async (token: string): Promise<string> => (await t.refresh(token).expect(200)).body.refresh_token;

  it('begins again at each refresh, and ends a session that was not refreshed', async () => {
    const { refresh_token: first, access_token: access } = await t.session();
    t.clock.advance(IDLE - 10);
    const second = await refreshed(first);
    t.clock.advance(IDLE - 10);
    const third = await refreshed(second);
    t.clock.advance(IDLE + 10);
    const ended = t.recorded(SessionEnded);
    const { body } = await t.refresh(third).expect(401);
    expect(body).toEqual((await t.refresh('f'.repeat(71)).expect(401)).body);
    await t.refresh(third).expect(401);
    expect(ended).toEqual([expect.objectContaining({ familyId: idOf(access), reason: 'idle' })]);
  });

  it('begins again when the current token is sent again in the grace period', async () => {
    const { refresh_token: first } = await t.session();
    const second = await refreshed(first);
    t.clock.advance(20);
    expect(await refreshed(first)).toBe(second);
    t.clock.advance(IDLE - 10);
    await t.refresh(second).expect(200);
  });

  it('does not move the deadline', async () => {
    let { refresh_token: token } = await t.session();
    for (let i = 0; i < REFRESH_TTL / 1200; i++) {
      token = await refreshed(token);
      t.clock.advance(1200);
    }
    const ended = t.recorded(SessionEnded);
    t.clock.advance(10);
    await t.refresh(token).expect(401);
    expect(ended).toMatchObject([{ reason: 'expired' }]);
  });

  it('applies to pinned sessions, and not to a guard without it', async () => {
    const pinned = await t.auth.startSession(1, {}, ['orders.read']);
    const staff = await t.session('root@example.com', 'admin');
    t.clock.advance(IDLE + 10);
    await t.refresh(pinned.refreshToken).expect(401);
    await t.refresh(staff.refresh_token, 'admin').expect(200);
  });

  it('is in the list of sessions as their end, and hides those past it', async () => {
    const [idle, other] = [await t.session(), await t.session()];
    t.clock.advance(1000);
    const { body } = await t.refresh(other.refresh_token).expect(200);
    for (const { last_used_at: used, expires_at: end } of await listed(body.access_token))
      expect(Date.parse(end) - Date.parse(used)).toBe(IDLE * 1000);
    t.clock.advance(IDLE - 1000 + 10);
    const { body: again } = await t.refresh(body.refresh_token).expect(200);
    expect((await listed(again.access_token)).map(({ id }) => id)).toEqual([idOf(other.access_token)]);
    expect(idOf(idle.access_token)).not.toBe(idOf(other.access_token));
  });

  it('is not later than the deadline in the list and in the result of a server call', async () => {
    const { accessToken, refreshExpiresIn, refreshToken } = await t.auth.startSession(1, { ttl: 1000 });
    expect(refreshExpiresIn).toBe(1000);
    const end = (await listed(accessToken))[0]!.expires_at;
    expect(Math.abs(Date.parse(end) - t.clock.now() - 1_000_000)).toBeLessThan(5000);
    t.clock.advance(100);
    const next = await t.auth.sessions.refresh(refreshToken, { ip: '192.0.2.1' });
    expect(next.refreshExpiresIn).toBeGreaterThan(890);
    expect(next.refreshExpiresIn).toBeLessThanOrEqual(900);
  });

  it('is what remains after a start and after a refresh', async () => {
    const { refreshExpiresIn, refreshToken } = await t.auth.startSession(1);
    expect(refreshExpiresIn).toBe(IDLE);
    t.clock.advance(1000);
    const next = await t.auth.sessions.refresh(refreshToken, { ip: '192.0.2.1' });
    expect(next.refreshExpiresIn).toBe(IDLE);
  });

  it('frees the place of a session under the maximum number', async () => {
    await t.session();
    await t.session();
    t.clock.advance(IDLE + 10);
    const ended = t.recorded(SessionEnded);
    const [one, two] = [await t.session(), await t.session()];
    expect(ended).toEqual([]);
    for (const { refresh_token: token } of [one, two]) await t.refresh(token).expect(200);
  });

  it('is the reason when a session is pruned that was idle before its deadline', async () => {
    await t.session();
    const short = await t.auth.startSession(1, { ttl: 1000 });
    const ended = t.recorded(SessionEnded);
    t.clock.advance(IDLE + LIFE + 10);
    expect(await t.app.get(Pruning).run()).toMatchObject({ sessions: 1 });
    expect(ended).toEqual([expect.objectContaining({ familyId: idOf(short.accessToken), reason: 'expired' })]);
    t.clock.advance(REFRESH_TTL);
    expect(await t.app.get(Pruning).run()).toMatchObject({ sessions: 1 });
    expect(ended.slice(1)).toEqual([expect.objectContaining({ reason: 'idle' })]);
  });

  it('has effect as soon as it is lowered, and never lengthens the idle time of a session', async () => {
    const lowered = await TestApp.start({
      options: { sessions: { idleTimeout: 1000 } },
      databaseUrl: t.databaseUrl,
    });
    const [own, usual] = [await t.auth.startSession(1, { idleTimeout: 950 }), await t.session()];
    for (const { clock } of [t, lowered]) clock.advance(970);
    await t.refresh(own.refreshToken).expect(401);
    for (const { clock } of [t, lowered]) clock.advance(100);
    await lowered.refresh(usual.refresh_token).expect(401);
    await lowered.stop();
  });

  it('of one session can be shorter', async () => {
    const { refreshExpiresIn, refreshToken } = await t.auth.startSession(1, { idleTimeout: 1000 });
    expect(refreshExpiresIn).toBe(1000);
    t.clock.advance(990);
    const next = await refreshed(refreshToken);
    t.clock.advance(1010);
    await t.refresh(next).expect(401);
  });
});

it('an idle time also begins again at each refresh without rotation', async () => {
  const t = await TestApp.start({ options: { sessions: { idleTimeout: IDLE }, features: { rotation: false } } });
  await t.person('ada@example.com');
  const { refresh_token: token } = await t.session();
  for (let i = 0; i < 2; i++) {
    t.clock.advance(IDLE - 10);
    await t.refresh(token).expect(200);
  }
  t.clock.advance(IDLE + 10);
  await t.refresh(token).expect(401);
  await t.stop();
});

describe('a life that clients in use would exceed', () => {
  const t = TestApp.forFile();

  it.each([
    [{ sessions: { idleTimeout: 900 } }, /^sessions\.idleTimeout \(SVC_SESSIONS_IDLE_TIMEOUT\) is 900/],
    [
      { guards: { admin: { sessions: { idleTimeout: 600 } } } },
      /^guards\.admin\.sessions\.idleTimeout \(SVC_SESSIONS_IDLE_TIMEOUT\) is 600/,
    ],
    [{ sessions: { ttlWithoutRemember: 60 } }, /^sessions\.ttlWithoutRemember \(SVC_SESSIONS_TTL_WITHOUT_REMEMBER\)/],
  ])('stops the start: %j', async (options, message) => {
    const host = HostModule.with(t.databaseUrl, options);
    const started = NestFactory.create(host, { logger: false, abortOnError: false }).then((one) => one.init());
    await expect(started).rejects.toThrow(message);
  });
});
