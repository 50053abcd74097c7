import { AccountLocked, AccountReleased, type AuthModuleOptions } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import type { TestApp } from '../support/hosts/app';
import { UNLIMITED } from '../support/hosts/host.module';
import {
  type Enrolled,
  asConfirmed,
  startChallenge,
  codeOf,
  completeChallenge,
  enrol,
  enrolledForFile,
  secretIn,
  startTwoFactor,
} from '../support/flows/two-factor';

const LOCKED = 'This account is locked. Please contact support.';
const LOCK = { purpose: 'two_factor', subject: '1', guard: 'api' };

describe('guessing codes with the lockout on', () => {
  const { t, ada } = enrolledForFile({ features: { lockout: true }, lockout: { maxAttempts: 3 } });
  let challenge_token: string;
  const wrong = (answer: object = { code: '000000' }) => completeChallenge(t, { challenge_token, ...answer });
  const right = () => completeChallenge(t, { challenge_token, code: codeOf(t, ada.secret) });
  const recovery = (i = 0) => completeChallenge(t, { challenge_token, recovery_code: ada.recoveryCodes[i] });

  beforeEach(async () => void (challenge_token = await startChallenge(t)));

  const lock = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) await wrong().expect(422);
  };

  it('locks the second factor after the last attempt, which refuses the right code, too', async () => {
    const locked = t.recorded(AccountLocked);
    await lock();
    expect(locked).toEqual([LOCK]);
    const { body } = await right().expect(423);
    expect(body).toEqual({ message: LOCKED, errors: { code: [LOCKED] } });
    // A new challenge does not reset the count.
    await completeChallenge(t, { challenge_token: await startChallenge(t), code: codeOf(t, ada.secret) }).expect(423);
  });

  it('counts a missing code like a wrong code', async () => {
    for (const answer of [{}, { code: '' }, { code: null }]) await wrong(answer).expect(422);
    await right().expect(423);
  });

  it('never locks recovery codes, and a valid one releases the lock', async () => {
    await lock();
    const released = t.recorded(AccountReleased);
    await recovery().expect(200);
    expect(released).toEqual([{ ...LOCK, failures: 3 }]);
    challenge_token = await startChallenge(t);
    await right().expect(200);
  });

  it('does not bypass the lock by a code beside a recovery code', async () => {
    await lock();
    for (const recovery_code of ['junk', ada.recoveryCodes[0]]) {
      const { body } = await wrong({ code: codeOf(t, ada.secret), recovery_code }).expect(422);
      expect(Object.keys(body.errors)).toEqual(['code', 'recovery_code']);
    }
    await right().expect(423);
  });

  it('does not count recovery codes', async () => {
    for (let i = 0; i < 10; i++) await wrong({ recovery_code: 'AAAAAAAAAA-AAAAAAAAAA' }).expect(422);
    expect(await t.database.query(`SELECT 1 FROM svc_lockouts WHERE purpose = 'two_factor'`)).toEqual([]);
    await right().expect(200);
  });

  it('resets the count after a success', async () => {
    for (let i = 0; i < 2; i++) await wrong().expect(422);
    await right().expect(200);
    challenge_token = await startChallenge(t);
    for (let i = 0; i < 2; i++) await wrong().expect(422);
    t.clock.advance(30);
    await right().expect(200);
  });

  it('can succeed at the last attempt', async () => {
    for (let i = 0; i < 2; i++) await wrong().expect(422);
    await right().expect(200);
  });

  it('does not count answers to an unknown challenge', async () => {
    for (let i = 0; i < 5; i++) await completeChallenge(t, { challenge_token: 'junk', code: '000000' }).expect(422);
    await right().expect(200);
  });
});

describe('guessing codes within the limit of an account', () => {
  const { t, ada } = enrolledForFile();

  it('is not refused', async () => {
    const challenge_token = await startChallenge(t);
    for (let i = 0; i < 20; i++) await completeChallenge(t, { challenge_token, code: '000000' }).expect(422);
    await completeChallenge(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(200);
  });
});

describe('guessing codes beyond the limit of an account', () => {
  // The limit by address also counts these requests, so it is disabled here.
  const limiters = { 'svc-2fa': () => [] };
  const twoFactor = { maxAttempts: 3, decaySeconds: 60 };
  let t: TestApp;
  let ada: Enrolled;
  let challenge_token: string;
  const wrong = (answer: object = { code: '000000' }) => completeChallenge(t, { challenge_token, ...answer });
  const right = () => completeChallenge(t, { challenge_token, code: codeOf(t, ada.secret) });
  const recovery = (i = 0) => completeChallenge(t, { challenge_token, recovery_code: ada.recoveryCodes[i] });

  const start = async (options: Partial<AuthModuleOptions> = {}): Promise<void> => {
    const rateLimits = { ...UNLIMITED, twoFactor, limiters };
    t = await startTwoFactor({ keyPrefix: randomUUID(), rateLimits, ...options });
    ada = await enrol(t);
    challenge_token = await startChallenge(t);
  };
  afterEach(() => t.stop());

  it('is refused with the time to wait, for any code and any challenge', async () => {
    await start();
    for (let i = 0; i < 3; i++) await wrong().expect(422);
    const { body } = await right().expect(429);
    expect(body.errors.code[0]).toMatch(/^Too many attempts\. Please try again in (5\d|60) seconds\.$/);
    expect(body.message).toBe(body.errors.code[0]);
    await completeChallenge(t, { challenge_token: await startChallenge(t), code: codeOf(t, ada.secret) }).expect(429);
  });

  it('counts recovery codes as well', async () => {
    await start();
    for (let i = 0; i < 3; i++) await wrong({ recovery_code: 'junk' }).expect(422);
    await recovery().expect(429);
  });

  it('resets the count after a success', async () => {
    await start();
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 2; i++) await wrong().expect(422);
      await recovery(round).expect(200);
      challenge_token = await startChallenge(t);
    }
  });

  it('answers 423 to codes of a locked account, and 429 to its recovery codes', async () => {
    await start({ features: { lockout: true }, lockout: { maxAttempts: 3 } });
    for (let i = 0; i < 3; i++) await wrong().expect(422);
    await right().expect(423);
    await recovery().expect(429);
  });

  it('is limited for each guard separately, because the same id is a different user there', async () => {
    await start({ rateLimits: { ...UNLIMITED, twoFactor, limiters: { ...limiters, 'svc-admin-2fa': () => [] } } });
    await t.person('root@example.com', 'admin');
    const { twoFactor: operators } = t.auth.guard('admin');
    const { otpauthUri } = await operators.enrol({ id: 1, email: 'root@example.com' });
    await operators.confirm('1', codeOf(t, secretIn(otpauthUri)));
    const operator = { challenge_token: await startChallenge(t, 'root@example.com', 'admin'), code: '000000' };
    for (let i = 0; i < 3; i++) await completeChallenge(t, operator, 'admin').expect(422);
    await completeChallenge(t, operator, 'admin').expect(429);
    await right().expect(200);
  });
});

describe('guessing codes from one address', () => {
  it('is limited by address, whatever the outcome', async () => {
    const t = await startTwoFactor({
      keyPrefix: randomUUID(),
      rateLimits: { ...UNLIMITED, twoFactor: { maxAttempts: 5, decaySeconds: 60 } },
    });
    for (let i = 0; i < 5; i++) await completeChallenge(t, { challenge_token: 'junk' }).expect(422);
    const { headers } = await completeChallenge(t, { challenge_token: 'junk' }).expect(429);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    await asConfirmed(t, 'post', '/auth/two-factor', 'junk', 'junk').expect(401);
    await t.stop();
  });
});
