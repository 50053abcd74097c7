import type { Response } from 'supertest';
import { mailedCode, sendCode } from '../support/flows/email-code';
import { eventually } from '../support/runtime/eventually';
import { whileStatementsFail } from '../support/faults/failing-statements';
import { member, membersForFile } from '../support/hosts/members';
import { confirmPassword } from '../support/flows/step-up';
import { codeOf, completeChallenge, startChallenge } from '../support/flows/two-factor';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const NEXT = 'another horse entirely';
const UNLIMITED = { maxAttempts: 1e9, decaySeconds: 60 };
/** What `hooks.canSignIn` does. */
let canSignIn = async (): Promise<boolean> => true;

// One counted failure is enough for a lock, and for a refusal by a limit on failures.
const { t, mailbox } = membersForFile({
  features: { lockout: true, twoFactor: true, emailCode: true },
  lockout: { maxAttempts: 1 },
  confirm: { factors: 'all' },
  hooks: { canSignIn: () => canSignIn() },
  rateLimits: {
    login: { maxAttempts: 1, ipMaxAttempts: 1e9 },
    twoFactor: { maxAttempts: 1 },
    limiters: { 'svc-2fa': () => ({ key: 'all', ...UNLIMITED }) },
  },
});
let id: string;
beforeEach(async () => {
  canSignIn = async () => true;
  id = await member(t, ADA, { emailVerifiedAt: new Date() });
});

/** Makes every release of a counter and every correction of one fail, until the returned function is called. */
async function failCorrections(): Promise<() => Promise<unknown>> {
  await t.database.query(`
    CREATE FUNCTION svc_test_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE 'the database system is shutting down' USING ERRCODE = 'cannot_connect_now';
    END $$;
    CREATE TRIGGER svc_test_refuse BEFORE DELETE ON svc_lockouts FOR EACH STATEMENT EXECUTE FUNCTION svc_test_refuse();
    CREATE TRIGGER svc_test_correction BEFORE UPDATE ON svc_lockouts FOR EACH ROW WHEN (new.attempts < old.attempts)
      EXECUTE FUNCTION svc_test_refuse()`);
  return () => t.database.query('DROP FUNCTION svc_test_refuse CASCADE');
}

/** The counters that count a failure. */
const counted = (): Promise<object[]> =>
  t.database.query('SELECT purpose, subject FROM svc_lockouts WHERE attempts > 0 OR locked_at IS NOT NULL');

const enrol = (): Promise<unknown> => t.auth.twoFactor.importFactor(id, { secret: SECRET });
const recoveryCode = async (): Promise<string> => (await t.auth.twoFactor.replaceRecoveryCodes(id))[0]!;
const session = async (): Promise<string> => (await t.auth.startSession(id, { amr: ['pwd'] })).accessToken;
/** The next code of the authenticator: a code is accepted once. */
const nextCode = (): string => {
  t.clock.advance(30);
  return codeOf(t, SECRET);
};

type Send = () => PromiseLike<Response>;

/** Each prepares a request with a right secret, which has not been used. */
const SECRETS: [string, () => Promise<Send>][] = [
  ['a password at the login', async () => () => t.login(ADA)],
  [
    'a code at the login challenge',
    async () => {
      await enrol();
      const body = { challenge_token: await startChallenge(t), code: nextCode() };
      return () => completeChallenge(t, body);
    },
  ],
  [
    'a recovery code at the login challenge',
    async () => {
      await enrol();
      const body = { challenge_token: await startChallenge(t), recovery_code: await recoveryCode() };
      return () => completeChallenge(t, body);
    },
  ],
  [
    'a mailed code',
    async () => {
      const mailed = await mailedCode(t, mailbox);
      return () => sendCode(t, mailed);
    },
  ],
  [
    'a password at a confirmation',
    async () => {
      const token = await session();
      return () => confirmPassword(t, token);
    },
  ],
  [
    'a password and a code at a confirmation',
    async () => {
      await enrol();
      const [token, code] = [await session(), nextCode()];
      return () => confirmPassword(t, token, { password: PASSWORD, code });
    },
  ],
  [
    'a password and a recovery code at a confirmation',
    async () => {
      await enrol();
      const [token, recovery_code] = [await session(), await recoveryCode()];
      return () => confirmPassword(t, token, { password: PASSWORD, recovery_code });
    },
  ],
  [
    'a password at its change',
    async () => {
      const token = await session();
      const body = { current_password: PASSWORD, password: NEXT, password_confirmation: NEXT };
      return () => t.call('post', '/auth/password', token).send(body);
    },
  ],
];

describe.each(SECRETS)('%s that is right', (name, prepare) => {
  it('is not counted as a failure when its success cannot be recorded', async () => {
    const send = await prepare();
    await whileStatementsFail(t, 'DELETE ON svc_lockouts', async () => expect((await send()).status).toBe(503));
    expect(await counted()).toEqual([]);
    expect((await (await prepare())()).status).toBe(200);
  });

  // A recovery code at a login challenge has no lock: it cannot be guessed.
  if (!name.startsWith('a recovery code'))
    it('is not counted any more when the database answers again', async () => {
      const send = await prepare();
      const allow = await failCorrections();
      expect((await send()).status).toBe(503);
      expect(await counted()).not.toEqual([]);
      await allow();
      await eventually(async () => (await counted()).length === 0);
      expect((await (await prepare())()).status).toBe(200);
    });
});

describe('a second factor that is right', () => {
  it.each(SECRETS.filter(([name]) => name.includes('recovery code')))(
    'leaves no failure counted when %s cannot be marked as used',
    async (_, prepare) => {
      const send = await prepare();
      await whileStatementsFail(t, 'UPDATE ON members', async () => expect((await send()).status).toBe(503));
      expect(await counted()).toEqual([]);
      expect((await send()).status).toBe(200);
    },
  );

  it('leaves the password counted when it is wrong', async () => {
    await enrol();
    await confirmPassword(t, await session(), { password: PASSWORD, code: '000000' }).expect(422);
    expect(await counted()).toHaveLength(2);
  });
});

describe('the user of a right code', () => {
  const codes = SECRETS.filter(([name]) => /^a (recovery |mailed )?code/.test(name));

  it.each<[string, number, () => Promise<boolean>]>([
    ['hooks.canSignIn refuses', 401, async () => false],
    [
      'hooks.canSignIn throws',
      500,
      async () => {
        throw new Error('the list of suspended users is not available');
      },
    ],
  ])('%s: nothing is counted, however often, and the code stays valid', async (_, status, hook) => {
    for (const [, prepare] of codes) {
      const send = await prepare();
      canSignIn = hook;
      // A mailed code has five guesses.
      for (let i = 0; i < 6; i++) expect((await send()).status).toBe(status);
      expect(await counted()).toEqual([]);
      canSignIn = async () => true;
      expect((await send()).status).toBe(200);
      await t.auth.twoFactor.disable(id);
    }
  });
});
