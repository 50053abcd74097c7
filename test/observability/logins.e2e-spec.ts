import { ForbiddenException } from '@nestjs/common';
import { HasherBusy, PasswordHasher } from '@svc/auth';
import { REASONS } from '../../libs/auth/src/observability/reasons';
import { TestApp, claimsOf } from '../support/app';
import { PASSWORD } from '../support/people';
import { LoggingApp, SEEN_BY, SecurityLines, reasonsIn } from '../support/security-lines';

const WRONG = 'wrong-horse-battery';

describe('the security log says why', () => {
  const log = new SecurityLines();
  let app: LoggingApp;
  let t: TestApp;

  beforeAll(async () => {
    app = await LoggingApp.start(log);
    t = app.t;
  });
  beforeEach(() => app.next());
  afterAll(() => t.stop());

  it('a login failed, with the account where there is one, and nothing that was typed', async () => {
    const base = { event: 'auth.login.failed', guard: 'api', ip: '127.0.0.1' };
    expect(await log.lineOf(() => t.login(app.email, WRONG), 422)).toEqual({
      ...base,
      reason: 'wrong_password',
      user_id: app.id,
    });
    expect(await log.lineOf(() => t.login('nobody@example.com', WRONG), 422)).toEqual({
      ...base,
      reason: 'unknown_user',
    });
    expect(await log.lineOf(() => t.http.post('/auth/login').send({ email: 1 }), 422)).toEqual({
      ...base,
      reason: 'validation_failed',
    });
    await t.login(app.email, WRONG).expect(422);
    await t.login(app.email, WRONG).expect(422);
    expect(await log.lineOf(() => t.login(app.email), 429)).toEqual({ ...base, reason: 'too_many_failures' });
  });

  it('a login of a locked account, of an unverified user and of a busy moment failed', async () => {
    const reasonOf = async (status: number) => (await log.lineOf(() => t.login(app.email), status)).reason;
    jest.spyOn(app.users, 'isEmailVerified').mockReturnValueOnce(false).mockReturnValueOnce(false);
    const unverified = await log.during(() => t.login(app.email).expect(403));
    expect(unverified.at(-1)).toMatchObject({ event: 'auth.login.failed', reason: 'unverified_login' });
    jest.spyOn(t.app.get(PasswordHasher), 'verify').mockRejectedValueOnce(new HasherBusy());
    expect(await reasonOf(503)).toBe('hasher_busy');
    await t.login(app.email, WRONG).expect(422);
    await t.database.query('UPDATE svc_lockouts SET locked_at = now() WHERE subject = $1', [`id:${app.id}`]);
    expect(await reasonOf(423)).toBe('account_locked');
  });

  it('a login met a fault, or an error of the host`s', async () => {
    const last = async (status: number) => (await log.during(() => t.login(app.email).expect(status))).at(-1)!.reason;
    app.hook = () => {
      throw new Error(`never said: ${PASSWORD}`);
    };
    expect(await last(500)).toBe('unexpected');
    app.hook = () => {
      throw new ForbiddenException();
    };
    expect(await last(403)).toBe('other');
  });

  it('a login succeeded, with the session, and a refresh only where it failed', async () => {
    const lines = await log.during(() => app.session());
    const started = lines.find(({ event }) => event === 'auth.login.succeeded')!;
    expect(started).toEqual({
      event: 'auth.login.succeeded',
      guard: 'api',
      user_id: app.id,
      session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ip: '127.0.0.1',
    });
    const tokens = await app.session();
    const fid = String(claimsOf(tokens.access_token).fid);
    expect(await log.during(() => t.refresh(tokens.refresh_token).expect(200))).toEqual([]);
    t.clock.advance(31);
    const failed = { event: 'auth.refresh.failed', guard: 'api', ip: '127.0.0.1', user_id: app.id };
    expect(await log.during(() => t.refresh(tokens.refresh_token).expect(401))).toEqual([
      { event: 'auth.refresh_token.reused', session_id: fid },
      { ...failed, reason: 'reused_token' },
    ]);
    expect(await log.lineOf(() => t.refresh(tokens.refresh_token), 401)).toEqual({
      ...failed,
      reason: 'revoked_token',
    });
    expect(await log.lineOf(() => t.refresh('f'.repeat(64)), 401)).toMatchObject({ reason: 'unknown_token' });
    expect(await log.lineOf(() => t.refresh(undefined), 401)).toMatchObject({ reason: 'missing_token' });
    const old = await app.session();
    t.clock.advance(3_000_000);
    expect(await log.lineOf(() => t.refresh(old.refresh_token), 401)).toMatchObject({ reason: 'expired_token' });
  });

  it('a login of the host`s own failed, and no more than that', async () => {
    const own = await TestApp.start({ options: { ...log.options, hooks: { authenticate: async () => null } } });
    const line = await log.lineOf(() => own.login('ada@example.com'), 422);
    expect(line).toEqual({
      event: 'auth.login.failed',
      guard: 'api',
      ip: '127.0.0.1',
      reason: 'wrong_credentials',
    });
    await own.stop();
  });

  it('and every reason of these was seen, without a secret; of all there are, none is left out', () => {
    expect(reasonsIn(log.lines)).toEqual(SEEN_BY.logins);
    expect([...new Set(Object.values(SEEN_BY).flat())].toSorted()).toEqual(Object.keys(REASONS).toSorted());
  });
});
