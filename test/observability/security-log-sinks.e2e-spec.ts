import { type LoggerService } from '@nestjs/common';
import { PasswordHasher } from '@svc/auth';
import { TestApp, claimsOf } from '../support/hosts/app';
import { hasherBusy } from '../support/faults/hasher-busy';
import { newAddress, startRateLimited } from '../support/hosts/rate-limited-host';
import { PASSWORD } from '../support/hosts/user-entities';
import { SecurityLines } from '../support/views/security-lines';

/** A logger of a host that records every call. */
function recordingLogger() {
  const given: { level: string; args: unknown[] }[] = [];
  const at =
    (level: string) =>
    (...args: unknown[]) =>
      void given.push({ level, args });
  const logger: LoggerService = { log: at('log'), warn: at('warn'), error: at('error'), debug: at('debug') };
  return { given, logger };
}

describe('the security log', () => {
  it('is written to Nest`s logger, one object per line, without secrets', async () => {
    const { given, logger } = recordingLogger();
    const t = await TestApp.start({ prepare: (app) => app.useLogger(logger) });
    await t.person('ada@example.com');
    const { access_token, refresh_token } = await t.session();
    await t.login('ada@example.com', 'wrong-horse').expect(422);
    await t.get('/private', `${access_token}x`).expect(401);
    await t.refresh(refresh_token.replace(/./, 'x')).expect(401);
    const lines = given.filter(({ args }) => args.at(-1) === 'AuthSecurity');
    expect(lines.map(({ level, args: [line] }) => [level, (line as { event: string }).event])).toEqual([
      ['log', 'auth.session.started'],
      ['log', 'auth.login.succeeded'],
      ['warn', 'auth.login.failed'],
      ['warn', 'auth.guard.refused'],
      ['warn', 'auth.refresh.failed'],
    ]);
    const all = JSON.stringify(given);
    for (const secret of [PASSWORD, 'wrong-horse', access_token, refresh_token, 'ada@example.com']) {
      expect(all).not.toContain(secret);
    }
    await t.stop();
  });

  it('alone reports a full hash queue: a flood fills no other log', async () => {
    const { given, logger } = recordingLogger();
    const t = await TestApp.start({
      options: { securityLog: { maxPerMinute: 2 } },
      prepare: (app) => app.useLogger(logger),
    });
    jest.spyOn(t.app.get(PasswordHasher), 'verify').mockRejectedValue(hasherBusy());
    given.splice(0);
    for (let i = 0; i < 10; i++) await t.login('unknown@example.com').expect(503);
    expect(given.map(({ args }) => args.at(-1))).toEqual(['AuthSecurity', 'AuthSecurity']);
    await t.stop();
  });

  it('can be disabled', async () => {
    const { given, logger } = recordingLogger();
    const options = { securityLog: { enabled: false } };
    const t = await TestApp.start({ options, prepare: (app) => app.useLogger(logger) });
    await t.login('unknown@example.com').expect(422);
    expect(given.filter(({ args }) => args.at(-1) === 'AuthSecurity')).toEqual([]);
    await t.stop();
  });

  it('does not affect requests when the host`s sink throws or rejects', async () => {
    let sink: () => unknown = () => JSON.parse('no');
    const t = await TestApp.start({ options: { securityLog: { sink: () => sink() } } });
    await t.person('ada@example.com');
    await t.session();
    sink = async () => JSON.parse('no');
    await t.session();
    await t.login('ada@example.com', 'wrong').expect(422);
    await t.stop();
  });

  it('contains no address if a client sends another text, and IPv4 for an address that contains it', async () => {
    const log = new SecurityLines();
    const t = await startRateLimited(log.options);
    const ipOf = async (from: string): Promise<string | undefined> =>
      (await log.lineOf(() => t.login('unknown@example.com').set('X-Forwarded-For', from), 422)).ip;
    const evil = `6.6.6.6\u0085{"event":"auth.login.succeeded"}${'x'.repeat(1000)}`;
    for (const text of [evil, 'a', '203.0.113.7:443', 'unknown']) expect(await ipOf(text)).toBeUndefined();
    for (const mapped of ['::ffff:203.0.113.7', '::FFFF:cb00:7107', '0:0:0:0:0:ffff:203.0.113.7'])
      expect(await ipOf(mapped)).toBe('203.0.113.7');
    expect(await ipOf('2001:db8::7')).toBe('2001:db8::7');
    await t.stop();
  });

  it('has the successes of a user although another user has many, and bounds those of each user', async () => {
    const log = new SecurityLines();
    const t = await startRateLimited({ securityLog: { ...log.options.securityLog, maxPerMinute: 3 } });
    const [own, victim] = [await t.person('eve@example.com'), await t.person('ada@example.com')];
    const login = (email: string) => t.login(email).set('X-Forwarded-For', newAddress()).expect(200);
    for (let i = 0; i < 5; i++) await login('eve@example.com');
    for (let i = 0; i < 2; i++) await login('ada@example.com');
    await t.stop();
    const linesOf = (event: string, id: string) =>
      log.lines.filter((line) => line.event === event && line.user_id === id).map(({ suppressed }) => suppressed);
    for (const event of ['auth.login.succeeded', 'auth.session.started']) {
      expect([event, linesOf(event, victim)]).toEqual([event, [undefined, undefined]]);
      expect([event, linesOf(event, own)]).toEqual([event, [undefined, undefined, undefined, 2]]);
    }
  });

  it('has the alarm of a user although another user has many', async () => {
    const log = new SecurityLines();
    const t = await startRateLimited({ graceSeconds: 0, securityLog: { ...log.options.securityLog, maxPerMinute: 3 } });
    for (const email of ['eve@example.com', 'ada@example.com']) await t.person(email);
    const reuse = async (userId: number): Promise<unknown> => {
      const { accessToken, refreshToken } = await t.auth.startSession(userId);
      await t.refresh(refreshToken).set('X-Forwarded-For', newAddress()).expect(200);
      await t.refresh(refreshToken).set('X-Forwarded-For', newAddress()).expect(401);
      return claimsOf(accessToken).fid;
    };
    for (let i = 0; i < 5; i++) await reuse(1);
    const session = await reuse(2);
    await t.stop();
    expect(log.lines).toContainEqual({ event: 'auth.refresh_token.reused', guard: 'api', session_id: session });
  });

  it('is bounded under a flood, and reports how many lines were suppressed', async () => {
    const log = new SecurityLines();
    const t = await startRateLimited({ securityLog: { ...log.options.securityLog, maxPerMinute: 5 } });
    const guess = () =>
      t.http.post('/auth/login').set('X-Forwarded-For', newAddress()).send({ email: 'unknown@example.com' });
    for (let i = 0; i < 30; i++) await guess();
    await t.get('/private').expect(401);
    const failed = () => log.lines.filter(({ reason }) => reason === 'unknown_user');
    expect(failed()).toHaveLength(5);
    expect(log.lines.at(-1)).toMatchObject({ event: 'auth.guard.refused' });
    await t.stop();
    expect(failed()).toHaveLength(6);
    expect(failed().at(-1)).toEqual({
      event: 'auth.login.failed',
      reason: 'unknown_user',
      guard: 'api',
      suppressed: 25,
    });
  });
});
