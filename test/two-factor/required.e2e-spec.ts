import {
  type AuthModuleOptions,
  PasswordHasher,
  PasskeyAdded,
  SecurityStore,
  SessionStarted,
  TwoFactorDisabled,
  TwoFactorEnabled,
} from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { claimsOf } from '../support/hosts/app';
import { eventually } from '../support/runtime/eventually';
import { ORIGIN, PasskeyApp } from '../support/flows/passkeys';
import { PausePoint, whilePaused } from '../support/faults/pause-point';
import { confirmEnrolment, enrolment, enrolmentToken, startEnrolment } from '../support/flows/required-factor';
import { RACES_MS, rounds } from '../support/runtime/rounds';
import { CONFIRMATION_HEADER } from '../support/flows/step-up';
import { codeOf, completeChallenge, startChallenge } from '../support/flows/two-factor';
import { ADA, Operator, PASSWORD } from '../support/hosts/user-entities';

const TEXT = 'This sign-in has expired, or a second factor was set up. Please start again.';
const BAD = { message: TEXT, errors: { enrolment_token: [TEXT] } };
const NEXT = 'another-battery-staple';

/** What `twoFactor.required` answers. */
let answer: (user: { email: string }, context: { guard: string }) => unknown = () => true;
const checkpoint = PausePoint.disabled();

const OPTIONS: Partial<AuthModuleOptions> = {
  features: { twoFactor: true, lockout: true },
  lockout: { maxAttempts: 3 },
  twoFactor: { required: async (user, context) => answer(user as { email: string }, context) as boolean },
  sessions: { ttlWithoutRemember: 3600 },
  hooks: { tokenClaims: async () => checkpoint.pass().then(() => ({})) },
  // So that no concurrent request is answered 503 on a busy machine.
  storeTimeoutMs: 20_000,
};

const app = PasskeyApp.forFile(OPTIONS);
const { t } = app;

beforeEach(() => {
  answer = () => true;
});

const sessions = async (): Promise<number> =>
  (await t.database.query('SELECT 1 FROM svc_sessions WHERE revoked_at IS NULL')).length;
const creationOptions = async (enrolment_token: string) =>
  (await enrolment(t, '/passkey-options', { enrolment_token }).expect(200)).body;
/** The body that completes the enrolment of a passkey. */
const newPasskey = async (enrolment_token: string, device = new SoftAuthenticator(ORIGIN)) => ({
  enrolment_token,
  credential: device.create(await creationOptions(enrolment_token)),
});
/** Changes the password as code of the host does. */
const replacePassword = async (): Promise<void> => {
  const hash = await t.app.get(PasswordHasher).hash(NEXT);
  await t.database.query('UPDATE people SET password_hash = $1', [hash]);
};
const hasTotp = (): Promise<boolean> => t.auth.twoFactor.isEnabled('1');

describe('a login of a user who must have a second factor and has none', () => {
  it('is answered with a token to enrol one, and with no tokens and no session', async () => {
    const { body, headers } = await t.login(ADA).expect(200);
    expect(body).toEqual({
      enrolment_required: true,
      enrolment_token: expect.any(String),
      expires_in: 600,
      methods: ['totp', 'passkey'],
    });
    expect(headers['cache-control']).toBe('no-store, private');
    expect(await sessions()).toBe(0);
  });

  it('is answered like any other if the password is wrong, without a call of the policy', async () => {
    let calls = 0;
    answer = () => ++calls > 0;
    const { body } = await t.login(ADA, 'wrong').expect(422);
    expect(body).toEqual((await t.login('unknown@example.com', 'wrong').expect(422)).body);
    expect(calls).toBe(0);
  });

  it('is completed with an authenticator: the session records both factors, and the next login asks for a code', async () => {
    const enabled = t.recorded(TwoFactorEnabled);
    const enrolment_token = await enrolmentToken(t);
    const { body, headers } = await enrolment(t, '', { enrolment_token }).expect(200);
    expect(Object.keys(body)).toEqual(['otpauth_uri', 'recovery_codes']);
    expect(headers['cache-control']).toBe('no-store, private');
    expect(await hasTotp()).toBe(false);
    const secret = new URL(body.otpauth_uri).searchParams.get('secret')!;
    const used = codeOf(t, secret);
    const completed = await confirmEnrolment(t, enrolment_token, secret).expect(200);
    expect(Object.keys(completed.body).toSorted()).toEqual([
      'access_token',
      'expires_in',
      'refresh_token',
      'token_type',
    ]);
    expect(claimsOf(completed.body.access_token)).toMatchObject({ sub: '1', amr: ['pwd', 'otp'] });
    await t.get('/private', completed.body.access_token).expect(200);
    expect(enabled).toEqual([{ userId: '1', guard: 'api', imported: false }]);
    const challenge_token = await startChallenge(t);
    await completeChallenge(t, { challenge_token, code: used }).expect(422);
    await completeChallenge(t, { challenge_token, recovery_code: body.recovery_codes[0] }).expect(200);
  });

  it('is completed with a passkey, which the next login asks for', async () => {
    const added = t.recorded(PasskeyAdded);
    const device = new SoftAuthenticator(ORIGIN);
    const enrolment_token = await enrolmentToken(t);
    const body = { ...(await newPasskey(enrolment_token, device)), name: 'phone' };
    const completed = await enrolment(t, '/passkey', body).expect(200);
    expect(claimsOf(completed.body.access_token)).toMatchObject({ sub: '1', amr: ['pwd', 'webauthn'] });
    expect(added).toHaveLength(1);
    expect(await app.rows()).toMatchObject([{ name: 'phone', user_id: '1' }]);
    const { body: challenge } = await t.login(ADA).expect(200);
    expect(challenge).toEqual({ two_factor: true, challenge_token: expect.any(String), methods: ['passkey'] });
    const { challenge_token } = challenge;
    await completeChallenge(t, { challenge_token, ...(await app.answer(device)) }).expect(200);
  });

  it.each([
    [false, 3600],
    [true, 30 * 86_400],
  ])(
    'keeps "remember": %s for the session of either factor, which starts when the factor is set up',
    async (remember, ttl) => {
      t.clock.stop();
      const token = async (): Promise<string> => {
        const { body } = await t.http
          .post('/auth/login')
          .send({ email: ADA, password: PASSWORD, remember })
          .expect(200);
        t.clock.advance(120);
        return body.enrolment_token;
      };
      const lifeOf = async ({ access_token }: { access_token: string }) => {
        const { fid, auth_time: at } = claimsOf(access_token);
        expect(Math.abs(Number(at) - t.clock.seconds())).toBeLessThanOrEqual(5);
        const [row] = await t.database.query(
          'SELECT extract(epoch FROM expires_at - created_at)::int AS ttl, remembered FROM svc_sessions WHERE id = $1',
          [fid],
        );
        return row;
      };
      const first = await token();
      const { body: withCode } = await confirmEnrolment(t, first, await startEnrolment(t, first)).expect(200);
      expect(await lifeOf(withCode)).toEqual({ ttl, remembered: remember });
      await t.auth.twoFactor.disable('1');
      const { body: withPasskey } = await enrolment(t, '/passkey', await newPasskey(await token())).expect(200);
      expect(await lifeOf(withPasskey)).toEqual({ ttl, remembered: remember });
    },
  );

  it('can be started again: with the same token it is the same, and of two logins only the last one counts', async () => {
    const [earlier, enrolment_token] = [await enrolmentToken(t), await enrolmentToken(t)];
    const former = await startEnrolment(t, earlier);
    const secret = await startEnrolment(t, enrolment_token);
    expect(secret).not.toBe(former);
    expect(await startEnrolment(t, enrolment_token)).toBe(secret);
    await confirmEnrolment(t, enrolment_token, former).expect(422);
    await confirmEnrolment(t, earlier, former).expect(422);
    await confirmEnrolment(t, enrolment_token, secret).expect(200);
  });

  it('keeps the token after a wrong code, and counts wrong codes', async () => {
    const enrolment_token = await enrolmentToken(t);
    const secret = await startEnrolment(t, enrolment_token);
    for (const code of ['000000', null]) {
      const { body } = await enrolment(t, '/confirm', { enrolment_token, code }).expect(422);
      expect(Object.keys(body.errors)).toEqual(['code']);
    }
    await confirmEnrolment(t, enrolment_token, secret).expect(200);
    await t.auth.twoFactor.disable('1');
    const next = await enrolmentToken(t);
    const other = await startEnrolment(t, next);
    for (let i = 0; i < 3; i++) await enrolment(t, '/confirm', { enrolment_token: next, code: '000000' }).expect(422);
    await confirmEnrolment(t, next, other).expect(423, /"code":\[/);
    expect(await hasTotp()).toBe(false);
  });

  it('keeps the token after an invalid passkey', async () => {
    const enrolment_token = await enrolmentToken(t);
    const { credential } = await newPasskey(enrolment_token);
    await enrolment(t, '/passkey', { enrolment_token, credential: {} }).expect(422, /"credential":\[/);
    // The ceremony was consumed.
    await enrolment(t, '/passkey', { enrolment_token, credential }).expect(422, /"credential":\[/);
    await enrolment(t, '/passkey', await newPasskey(enrolment_token)).expect(200);
  });
});

describe('an enrolment token', () => {
  it('opens no other route', async () => {
    const token = await enrolmentToken(t);
    await t.get('/private', token).expect(401);
    await t.get('/auth/sessions', token).expect(401);
    await t.call('post', '/auth/two-factor', token).set(CONFIRMATION_HEADER, token).expect(401);
    await t.refresh(token).expect(401);
    await completeChallenge(t, { challenge_token: token, code: '000000' }).expect(422, /"challenge_token":\[/);
    const { accessToken } = await t.auth.startSession('1');
    await t.call('post', '/auth/two-factor', accessToken).set(CONFIRMATION_HEADER, token).expect(423);
  });

  it('is neither a login challenge nor an access token', async () => {
    const { accessToken } = await t.auth.startSession('1');
    await t.auth.twoFactor.importFactor('1', { secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' });
    const challenge = await startChallenge(t);
    await t.auth.twoFactor.disable('1');
    for (const enrolment_token of [accessToken, challenge, 'junk', '']) {
      for (const path of ['', '/confirm', '/passkey-options', '/passkey']) {
        await enrolment(t, path, { enrolment_token, credential: {} }).expect(422, /"enrolment_token":\[/);
      }
    }
  });

  it('is accepted at its guard only', async () => {
    await t.person(ADA, 'admin');
    const enrolment_token = await enrolmentToken(t, ADA, 'admin');
    expect((await enrolment(t, '', { enrolment_token }).expect(422)).body).toEqual(BAD);
    const secret = await startEnrolment(t, enrolment_token, 'admin');
    const { body } = await confirmEnrolment(t, enrolment_token, secret, 'admin').expect(200);
    expect(claimsOf(body.access_token)).toMatchObject({ amr: ['pwd', 'otp'] });
    expect(await t.database.getRepository(Operator).countBy({})).toBe(2);
  });

  const closes: [string, () => Promise<unknown>][] = [
    ['a change of the password', replacePassword],
    ['the end of all sessions', () => t.auth.revokeAll('1')],
    ['the end of all sessions of the guard', () => t.auth.revokeEverything()],
    ['the deletion of the user', () => t.database.query('DELETE FROM people WHERE id = 1')],
    ['another second factor', () => t.auth.twoFactor.importFactor('1', { secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' })],
    ['a passkey from elsewhere', async () => enrolment(t, '/passkey', await newPasskey(await enrolmentToken(t)))],
    ['ten minutes', async () => t.clock.advance(606)],
  ];
  it.each(closes)('is invalid after %s', async (_, close) => {
    const enrolment_token = await enrolmentToken(t);
    const secret = await startEnrolment(t, enrolment_token);
    const passkey = await newPasskey(enrolment_token);
    await close();
    const before = await sessions();
    for (const answered of [
      enrolment(t, '', { enrolment_token }),
      confirmEnrolment(t, enrolment_token, secret),
      enrolment(t, '/passkey-options', { enrolment_token }),
      enrolment(t, '/passkey', passkey),
    ]) {
      expect((await answered.expect(422)).body).toEqual(BAD);
    }
    expect(await sessions()).toBe(before);
  });

  it('ends with all sessions, and its end is kept for longer than it lives', async () => {
    const ends = jest.spyOn(t.app.get(SecurityStore), 'setMany');
    await t.auth.revokeAll('1');
    const kept = ends.mock.calls.filter(([[key]]) => key!.startsWith('svc:end:')).map(([, , seconds]) => seconds);
    ends.mockRestore();
    // A login challenge lives for five minutes, an enrolment token for ten.
    expect(kept).toEqual([expect.any(Number)]);
    expect(kept[0]).toBeGreaterThan(600);
  });

  it(
    'opens one session, also if it is completed many times at once',
    async () => {
      const started = t.recorded(SessionStarted);
      for (let round = 0; round < rounds(2); round++) {
        const enrolment_token = await enrolmentToken(t);
        const secret = await startEnrolment(t, enrolment_token);
        const bodies = [codeOf(t, secret), codeOf(t, secret, 1)].map((code) => ({ enrolment_token, code }));
        const answers = await Promise.all(
          Array.from({ length: 16 }, (_, i) => enrolment(t, '/confirm', bodies[i % 2]!)),
        );
        const statuses = answers.map(({ status }) => status);
        expect(statuses.filter((status) => status === 200)).toHaveLength(1);
        expect(statuses.filter((status) => ![200, 422, 423].includes(status))).toEqual([]);
        expect(await sessions()).toBe(1);
        expect(await hasTotp()).toBe(true);
        await t.auth.twoFactor.disable('1');
        await t.auth.revokeAll('1');
        t.clock.advance(120);
      }
      expect(started).toHaveLength(rounds(2));
    },
    RACES_MS,
  );

  it(
    'of two logins enrols at most one factor, if both are completed with different kinds at once',
    async () => {
      for (let round = 0; round < rounds(2); round++) {
        const [one, other] = [await enrolmentToken(t), await enrolmentToken(t)];
        const secret = await startEnrolment(t, one);
        const passkey = await newPasskey(other);
        const answers = await Promise.all([confirmEnrolment(t, one, secret), enrolment(t, '/passkey', passkey)]);
        const won = answers.filter(({ status }) => status === 200).length;
        const factors = (await app.rows()).length + Number(await hasTotp());
        expect(won).toBeLessThanOrEqual(1);
        expect(factors).toBe(won);
        // The session of the other request may end after its response.
        await eventually(async () => (await sessions()) === won);
        await t.auth.twoFactor.disable('1');
        await t.database.query('DELETE FROM svc_passkeys');
        await t.auth.revokeAll('1');
        t.clock.advance(120);
      }
    },
    RACES_MS,
  );

  it('of two logins enrols one passkey, if both are completed at once', async () => {
    const bodies = await Promise.all([enrolmentToken(t), enrolmentToken(t)]);
    // A user has one ceremony at a time.
    const options = await creationOptions(bodies[0]!);
    const credential = new SoftAuthenticator(ORIGIN).create(options);
    const answers = await Promise.all(
      bodies.map((enrolment_token) => enrolment(t, '/passkey', { enrolment_token, credential })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422]);
    expect(await app.rows()).toHaveLength(1);
  });
});

describe('an enrolment that is completed', () => {
  const completions: [string, () => Promise<{ request: () => PromiseLike<{ status: number; body: unknown }> }>][] = [
    [
      'with an authenticator',
      async () => {
        const enrolment_token = await enrolmentToken(t);
        const secret = await startEnrolment(t, enrolment_token);
        return { request: () => confirmEnrolment(t, enrolment_token, secret) };
      },
    ],
    [
      'with a passkey',
      async () => {
        const body = await newPasskey(await enrolmentToken(t));
        return { request: () => enrolment(t, '/passkey', body) };
      },
    ],
  ];
  const changes: [string, () => Promise<unknown>][] = [
    ['the password is changed', replacePassword],
    ['all sessions are ended', () => t.auth.revokeAll('1')],
  ];
  it.each(
    completions.flatMap(([how, prepare]) => changes.map(([what, change]) => [how, what, prepare, change] as const)),
  )('%s while %s enrols nothing and opens no session', async (_how, _what, prepare, change) => {
    const disabled = t.recorded(TwoFactorDisabled);
    const { request } = await prepare();
    // The session is not stored yet.
    const { status, body } = await whilePaused(checkpoint, request(), change);
    expect([status, body]).toEqual([422, BAD]);
    expect([await hasTotp(), await app.rows(), await sessions()]).toEqual([false, [], 0]);
    expect(disabled).toEqual([]);
  });

  it('with an authenticator is undone if its session ends before the factor is stored', async () => {
    const enabled = t.recorded(TwoFactorEnabled);
    const enrolment_token = await enrolmentToken(t);
    const secret = await startEnrolment(t, enrolment_token);
    const store = t.app.get(SecurityStore);
    const advance = store.advance.bind(store);
    // The code is consumed after the session has started, and before the factor is stored.
    jest.spyOn(store, 'advance').mockImplementation(async (...args) => {
      await t.auth.revokeAll('1');
      return advance(...args);
    });
    expect((await confirmEnrolment(t, enrolment_token, secret).expect(422)).body).toEqual(BAD);
    expect([await hasTotp(), await sessions(), enabled]).toEqual([false, 0, []]);
    jest.restoreAllMocks();
  });

  it('with a passkey is undone if its session ends before the passkey is stored', async () => {
    const added = t.recorded(PasskeyAdded);
    const body = await newPasskey(await enrolmentToken(t));
    const holder = t.database.createQueryRunner();
    await holder.startTransaction();
    await holder.query("SELECT pg_advisory_xact_lock(hashtextextended('svc:turns:api:1', 0))");
    // The request waits for the lock of the account after its session has started.
    const completed = Promise.resolve(enrolment(t, '/passkey', body));
    await eventually(async () => (await sessions()) === 1);
    await t.auth.revokeAll('1');
    await holder.commitTransaction();
    await holder.release();
    const { status, body: refusal } = await completed;
    expect([status, refusal]).toEqual([422, BAD]);
    expect([await app.rows(), await sessions(), added]).toEqual([[], 0, []]);
  });

  it('leaves the sessions of the user that exist', async () => {
    answer = () => false;
    const { access_token } = await t.session();
    answer = () => true;
    await t.get('/private', access_token).expect(200);
    const enrolment_token = await enrolmentToken(t);
    await confirmEnrolment(t, enrolment_token, await startEnrolment(t, enrolment_token)).expect(200);
    await t.get('/private', access_token).expect(200);
  });
});
