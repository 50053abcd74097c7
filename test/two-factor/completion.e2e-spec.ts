import { type AuthModuleOptions, UserProvider } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { StoreUnavailable } from '../../libs/auth/src/kernel/auth.exception';
import { Realms } from '../../libs/auth/src/realm/realm';
import { SecurityStore } from '../../libs/auth/src/security-store/security-store';
import { TypeormUserProvider } from '../../libs/auth/src/users/typeorm-user-provider';
import { UNLIMITED } from '../support/host.module';
import { type TestApp, claimsOf } from '../support/app';
import {
  ADA,
  type Enrolled,
  challenge,
  codeOf,
  complete,
  enrol,
  secretIn,
  startTwoFactor,
} from '../support/two-factor';

describe('the completion of a login challenge', () => {
  let t: TestApp;
  let ada: Enrolled;

  const start = async (options: Partial<AuthModuleOptions> = {}): Promise<void> => {
    t = await startTwoFactor(options);
    ada = await enrol(t);
  };
  const users = (): UserProvider => t.app.get(Realms).default.get(UserProvider);
  const store = (): SecurityStore => t.app.get(SecurityStore, { strict: false });
  const right = (challenge_token: string) => complete(t, { challenge_token, code: codeOf(t, ada.secret) });
  afterEach(() => t.stop());

  it('is refused to a user whose email is not verified, who keeps challenge and code', async () => {
    await start({ emailVerification: { blockUnverifiedLogin: true } });
    const verified = jest.spyOn(users(), 'isEmailVerified').mockReturnValue(false);
    // The second factor comes first.
    const challenge_token = await challenge(t);
    const sessions = 'SELECT count(*)::int AS n FROM svc_sessions';
    const before = await t.database.query(sessions);
    const { body } = await right(challenge_token).expect(403);
    expect(body).toEqual({ message: 'Please verify your email address before you sign in.' });
    await complete(t, { challenge_token, recovery_code: ada.recoveryCodes[0] }).expect(403);
    await complete(t, { challenge_token, code: '000000' }).expect(422);
    expect(await t.database.query(sessions)).toEqual(before);
    expect(await t.auth.twoFactor.recoveryCodeCount('1')).toEqual({ remaining: 8, total: 8 });
    verified.mockReturnValue(true);
    await right(challenge_token).expect(200);
  });

  it('happens once, also where access tokens are not denied', async () => {
    await start({ features: { denylist: false } });
    const challenge_token = await challenge(t);
    await right(challenge_token).expect(200);
    t.clock.advance(30);
    const { body } = await right(challenge_token).expect(422);
    expect(Object.keys(body.errors)).toEqual(['challenge_token']);
  });

  it('keeps the challenge when the code was used up before', async () => {
    await start();
    await right(await challenge(t)).expect(200);
    const challenge_token = await challenge(t);
    await right(challenge_token).expect(422);
    t.clock.advance(30);
    await right(challenge_token).expect(200);
  });

  it('is 503 while the codes cannot be claimed, and the challenge stays good', async () => {
    await start();
    const challenge_token = await challenge(t);
    jest.spyOn(store(), 'advance').mockRejectedValueOnce(new StoreUnavailable('Redis'));
    await right(challenge_token).expect(503);
    await right(challenge_token).expect(200);
  });

  it.each(['findById', 'passwordHashOf', 'secondFactorOf'] as const)(
    'is 503 within a second when %s does not answer',
    async (method) => {
      await start();
      const challenge_token = await challenge(t);
      const hung = jest.spyOn(users(), method).mockReturnValue(new Promise<never>(() => undefined) as never);
      const before = performance.now();
      await right(challenge_token).timeout(5000).expect(503);
      expect(performance.now() - before).toBeLessThan(1000);
      hung.mockRestore();
      await right(challenge_token).expect(200);
    },
  );

  it('remembers a used challenge for longer than it is good', async () => {
    await start({ twoFactor: { challengeTtl: 100 } });
    const challenge_token = await challenge(t);
    const { exp, iat } = claimsOf(challenge_token) as { exp: number; iat: number };
    expect(exp - iat).toBe(100);
    const add = jest.spyOn(store(), 'add');
    await right(challenge_token).expect(200);
    const [, , seconds] = add.mock.calls.find(([key]) => key.includes(String(claimsOf(challenge_token).jti)))!;
    expect(seconds).toBeGreaterThanOrEqual(105);
  });

  it('says in the list of sessions where it came from', async () => {
    await start();
    const challenge_token = await challenge(t);
    const { body } = await right(challenge_token).set('User-Agent', 'Phone/1').expect(200);
    const own = await t.get('/auth/sessions', body.access_token).expect(200);
    const current = own.body.data.find((one: { current: boolean }) => one.current);
    expect(current).toMatchObject({ user_agent: 'Phone/1', ip: expect.stringContaining('127.0.0.1') });
  });

  it('is 423 for whoever is locked, also beyond the limit of failures', async () => {
    const twoFactor = { maxAttempts: 3, decaySeconds: 60 };
    const rateLimits = { ...UNLIMITED, twoFactor, limiters: { 'svc-2fa': () => [] } };
    await start({ keyPrefix: randomUUID(), features: { lockout: true }, lockout: { maxAttempts: 3 }, rateLimits });
    const challenge_token = await challenge(t);
    for (let i = 0; i < 3; i++) await complete(t, { challenge_token, code: '000000' }).expect(422);
    await right(challenge_token).expect(423);
    await complete(t, { challenge_token, recovery_code: ada.recoveryCodes[0] }).expect(429);
  });

  it('is limited at each guard by itself: the same id at another one is someone else', async () => {
    const twoFactor = { maxAttempts: 3, decaySeconds: 60 };
    const rateLimits = { ...UNLIMITED, twoFactor, limiters: { 'svc-2fa': () => [], 'svc-admin-2fa': () => [] } };
    await start({ keyPrefix: randomUUID(), rateLimits });
    await t.person('root@example.com', 'admin');
    const { twoFactor: operators } = t.auth.guard('admin');
    const { otpauthUri } = await operators.enrol({ id: 1, email: 'root@example.com' });
    await operators.confirm('1', codeOf(t, secretIn(otpauthUri), -1));
    const challenge_token = await challenge(t, 'root@example.com', 'admin');
    for (let i = 0; i < 3; i++) await complete(t, { challenge_token, code: '000000' }, 'admin').expect(422);
    await complete(t, { challenge_token, code: '000000' }, 'admin').expect(429);
    await right(await challenge(t)).expect(200);
  });

  it('names whoever has no identifier by the id', async () => {
    t = await startTwoFactor();
    jest.spyOn(users(), 'identifierOf').mockReturnValue(null);
    const { otpauthUri } = await t.auth.twoFactor.enrol({ id: 1, email: ADA });
    expect(otpauthUri).toContain(':1?');
  });
});

describe('a host whose users cannot hold a second factor', () => {
  it('does not start, and is told what to do', async () => {
    jest.spyOn(TypeormUserProvider.prototype, 'storesSecondFactors').mockReturnValue(false);
    await expect(startTwoFactor()).rejects.toThrow(/store no second factor.*withTwoFactorColumns/);
  });
});
