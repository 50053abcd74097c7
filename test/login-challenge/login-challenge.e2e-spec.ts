import { AuthConfigError, RecoveryCodeUsed, SecurityStore, StoreUnavailable, withAuthColumns } from '@svc/auth';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';
import { TestApp, claimsOf } from '../support/hosts/app';
import { forge } from '../support/clients/forge';
import { ADMIN_AUDIENCE } from '../support/hosts/host.module';
import { member, startMembers } from '../support/hosts/members';
import { Operator, Person } from '../support/hosts/user-entities';
import { routesOf } from '../support/views/routes';
import {
  ADA,
  asConfirmed,
  startChallenge,
  codeOf,
  completeChallenge,
  enrol,
  enrolledForFile,
  secretIn,
  startTwoFactor,
  twoFactorForFile,
} from '../support/flows/two-factor';

const ROOT = 'root@example.com';
const WRONG = { message: 'The code is not correct.', errors: { code: ['The code is not correct.'] } };
const EXPIRED = 'This sign-in has expired. Please start again.';
const BAD = { message: EXPIRED, errors: { challenge_token: [EXPIRED] } };

describe('the login challenge', () => {
  const { t, ada } = enrolledForFile();

  const remaining = async (): Promise<number> =>
    (await t.get('/auth/two-factor/recovery-codes', ada.token).expect(200)).body.remaining;
  const sessions = async (): Promise<number> =>
    (await t.database.query('SELECT count(*)::int AS n FROM svc_sessions'))[0].n;

  it('is completed with a code, and the session records the method', async () => {
    const challenge_token = await startChallenge(t);
    const { body, headers } = await completeChallenge(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(200);
    expect(Object.keys(body).toSorted()).toEqual(['access_token', 'expires_in', 'refresh_token', 'token_type']);
    expect(headers['cache-control']).toBe('no-store, private');
    expect(claimsOf(body.access_token)).toMatchObject({ sub: '1', amr: ['pwd', 'otp'] });
    const renewed = await t.refresh(body.refresh_token).expect(200);
    expect(claimsOf(renewed.body.access_token)).toMatchObject({ amr: ['pwd', 'otp'] });
  });

  it('is completed with a recovery code, once', async () => {
    const used = t.recorded(RecoveryCodeUsed);
    const recovery_code = ada.recoveryCodes[5]!;
    const { body } = await completeChallenge(t, { challenge_token: await startChallenge(t), recovery_code }).expect(
      200,
    );
    expect(claimsOf(body.access_token)).toMatchObject({ amr: ['pwd', 'otp'] });
    expect(used).toEqual([{ userId: '1', guard: 'api', remaining: 7 }]);
    const again = await completeChallenge(t, { challenge_token: await startChallenge(t), recovery_code }).expect(422);
    expect(again.body).toEqual(WRONG);
    expect(await remaining()).toBe(7);
  });

  it('accepts codes with additional spaces', async () => {
    const code = codeOf(t, ada.secret);
    const spaced = ` ${code.slice(0, 3)} ${code.slice(3)} `;
    await completeChallenge(t, { challenge_token: await startChallenge(t), code: spaced }).expect(200);
    await completeChallenge(t, {
      challenge_token: await startChallenge(t),
      recovery_code: ` ${ada.recoveryCodes[0]} `,
    }).expect(200);
  });

  it('accepts no other recovery code', async () => {
    const challenge_token = await startChallenge(t);
    const [code] = ada.recoveryCodes as [string];
    for (const other of [code.slice(1), `${code}0`, code.replace(/^./, 'U'), '', 'x'.repeat(255)]) {
      await completeChallenge(t, { challenge_token, recovery_code: other }).expect(422);
    }
    expect(await remaining()).toBe(8);
  });

  it('opens one session, with whatever factor it is completed', async () => {
    const challenge_token = await startChallenge(t);
    const before = await sessions();
    await completeChallenge(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(200);
    for (const answer of [{ code: codeOf(t, ada.secret, 1) }, { recovery_code: ada.recoveryCodes[0] }, {}]) {
      const { body } = await completeChallenge(t, { challenge_token, ...answer }).expect(422);
      expect(body).toEqual(BAD);
    }
    expect(await sessions()).toBe(before + 1);
    expect(await remaining()).toBe(8);
  });

  it('stays valid after a wrong code', async () => {
    const challenge_token = await startChallenge(t);
    for (const answer of [{ code: '000000' }, {}, { code: null }, { code: '' }, { recovery_code: 'junk' }]) {
      const { body } = await completeChallenge(t, { challenge_token, ...answer }).expect(422);
      expect(body).toEqual(WRONG);
    }
    await completeChallenge(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(200);
  });

  it.each([
    [
      'a code and a recovery code',
      (): object => ({ code: codeOf(t, ada.secret), recovery_code: ada.recoveryCodes[0] }),
    ],
    ['a code and an invalid recovery code', (): object => ({ code: codeOf(t, ada.secret), recovery_code: 'x' })],
  ])('refuses %s together, and consumes nothing', async (_, both) => {
    const challenge_token = await startChallenge(t);
    const { body } = await completeChallenge(t, { challenge_token, ...both() }).expect(422);
    expect(Object.keys(body.errors)).toEqual(['code', 'recovery_code']);
    expect(await remaining()).toBe(8);
    await completeChallenge(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(200);
  });

  it.each([
    [undefined, 'is required'],
    [null, 'is required'],
    ['', 'is required'],
    [7, 'must be a string'],
    [['x'], 'must be a string'],
    [{}, 'must be a string'],
  ])('requires a challenge token that is a string: %j %s', async (challenge_token, problem) => {
    const { body } = await completeChallenge(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(422);
    expect(body.errors).toEqual({ challenge_token: [`The challenge token field ${problem}.`] });
  });

  it.each([['code'], ['recovery_code']])('requires %s to be a string', async (field) => {
    const challenge_token = await startChallenge(t);
    for (const value of [123456, ['123456'], { a: 1 }, true, 'x'.repeat(256)]) {
      const { body } = await completeChallenge(t, { challenge_token, [field]: value }).expect(422);
      expect(Object.keys(body.errors)).toEqual([field]);
    }
  });

  it('is valid for its configured lifetime', async () => {
    t.clock.stop();
    const challenge_token = await startChallenge(t);
    t.clock.advance(304);
    await completeChallenge(t, { challenge_token, code: '000000' }).expect(422, WRONG);
    t.clock.advance(1);
    await completeChallenge(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(422, BAD);
    expect(await remaining()).toBe(8);
  });

  it('is not accepted as an access token or confirmation, nor are they as a challenge', async () => {
    const challenge_token = await startChallenge(t);
    await t.get('/private', challenge_token).expect(401);
    await asConfirmed(t, 'post', '/auth/two-factor/recovery-codes', ada.token, challenge_token).expect(423);
    for (const token of [ada.proof, ada.token]) {
      await completeChallenge(t, { challenge_token: token, code: codeOf(t, ada.secret) }).expect(422, BAD);
    }
  });

  it.each<[string, object]>([
    ['of another guard', { claims: { gid: 'admin' } }],
    ['for another audience', { claims: { aud: ['https://elsewhere'] } }],
    ['whose audience is not a list', { claims: { aud: 'https://api.example.com' } }],
    ['with a subject that is not a string', { claims: { sub: 1 } }],
    ['with a list of subjects', { claims: { sub: ['1'] } }],
    ['without an id', { claims: { jti: undefined } }],
    ['with an empty id', { claims: { jti: '' } }],
    ['without a password fingerprint', { claims: { fpr: undefined } }],
    ['with another fingerprint', { claims: { fpr: 'f'.repeat(64) } }],
    ['with a list as fingerprint', { claims: { fpr: ['f'] } }],
    ['with the id of another one', { claims: { jti: '5c8d2c2b-6c2f-4b9e-8d6f-0d3f2f6c1a11' } }],
    ['that never expires', { claims: { exp: undefined } }],
    ['with a longer lifetime than the configured one', { claims: { exp: 1e18 } }],
    ['whose expiry is a string', { claims: { exp: '9999999999' } }],
    ['of another key', { secret: 'another-secret-of-enough-bytes-0123456789' }],
    ['of an access token`s type', { header: { typ: 'at+jwt' } }],
  ])('is refused if it is one %s, and nothing is consumed', async (_, change) => {
    const exp = t.clock.seconds() + 300;
    const { jti, fpr } = claimsOf(await startChallenge(t));
    const good = { gid: 'api', aud: ['https://api.example.com'], fid: undefined, scope: undefined, exp, jti, fpr };
    const { claims = {}, header = {}, ...rest } = change as { claims?: object; header?: object };
    const token = (over: object, head: object): string =>
      forge({ ...rest, claims: { ...good, ...over }, header: { typ: '2fa+challenge', ...head } });
    await completeChallenge(t, { challenge_token: token(claims, header), code: codeOf(t, ada.secret) }).expect(
      422,
      BAD,
    );
    const sound = forge({ claims: good, header: { typ: '2fa+challenge' } });
    await completeChallenge(t, { challenge_token: sound, code: codeOf(t, ada.secret) }).expect(200);
  });

  it('opens no session for a user who disabled the second factor meanwhile', async () => {
    const challenge_token = await startChallenge(t);
    await asConfirmed(t, 'delete', '/auth/two-factor', ada.token, ada.proof).expect(204);
    await completeChallenge(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(422, WRONG);
    await completeChallenge(t, { challenge_token, recovery_code: ada.recoveryCodes[0] }).expect(422, WRONG);
  });

  it('opens no session for a deleted user', async () => {
    const challenge_token = await startChallenge(t);
    await t.database.query(`DELETE FROM people WHERE email = '${ADA}'`);
    await completeChallenge(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(422, WRONG);
    await completeChallenge(t, { challenge_token, recovery_code: ada.recoveryCodes[0] }).expect(422, WRONG);
  });
});

describe('the completion of a login challenge', () => {
  const { t, ada } = enrolledForFile();
  const right = (challenge_token: string) => completeChallenge(t, { challenge_token, code: codeOf(t, ada.secret) });

  it('keeps the challenge if the code was used before', async () => {
    t.clock.stop();
    await right(await startChallenge(t)).expect(200);
    const challenge_token = await startChallenge(t);
    await right(challenge_token).expect(422);
    t.clock.advance(30);
    await right(challenge_token).expect(200);
  });

  it('is answered 503 while used codes cannot be recorded, and the challenge stays valid', async () => {
    const challenge_token = await startChallenge(t);
    jest.spyOn(t.app.get(SecurityStore), 'advance').mockRejectedValueOnce(new StoreUnavailable('Redis'));
    await right(challenge_token).expect(503);
    await right(challenge_token).expect(200);
  });

  it('stores the address and the user agent in the list of sessions', async () => {
    const challenge_token = await startChallenge(t);
    const { body } = await right(challenge_token).set('User-Agent', 'Phone/1').expect(200);
    const own = await t.get('/auth/sessions', body.access_token).expect(200);
    const current = own.body.data.find((one: { current: boolean }) => one.current);
    expect(current).toMatchObject({ user_agent: 'Phone/1', ip: expect.stringContaining('127.0.0.1') });
  });

  it('uses the id of a user without an identifier', async () => {
    await t.auth.twoFactor.disable('1');
    const { otpauthUri } = await t.auth.twoFactor.enrol({ id: 1 });
    expect(otpauthUri).toContain(':1?');
  });

  it('is a server error without the columns, and never a login with the password alone', async () => {
    await t.database.query('ALTER TABLE people RENAME COLUMN two_factor_secret TO gone');
    try {
      const { status, body } = await t.login(ADA);
      expect(status).toBeGreaterThanOrEqual(500);
      expect(body).not.toHaveProperty('access_token');
    } finally {
      await t.database.query('ALTER TABLE people RENAME COLUMN gone TO two_factor_secret');
    }
  });
});

describe('the completion of a login challenge on another host', () => {
  let t: TestApp;

  afterEach(() => t.stop());

  it('is refused for a user with an unverified email, and consumes neither challenge nor code', async () => {
    const features = { twoFactor: true };
    ({ t } = await startMembers({ features, emailVerification: { blockUnverifiedLogin: true } }));
    const id = await member(t, ADA, { emailVerifiedAt: new Date() });
    const { secret, recoveryCodes } = await enrol(t);
    await t.database.query('UPDATE members SET email_verified_at = NULL');
    // The second factor is checked first.
    const challenge_token = await startChallenge(t);
    const sessions = 'SELECT count(*)::int AS n FROM svc_sessions';
    const before = await t.database.query(sessions);
    const { body } = await completeChallenge(t, { challenge_token, code: codeOf(t, secret) }).expect(403);
    expect(body).toEqual({ message: 'Please verify your email address before you sign in.' });
    await completeChallenge(t, { challenge_token, recovery_code: recoveryCodes[0] }).expect(403);
    await completeChallenge(t, { challenge_token, code: '000000' }).expect(422);
    expect(await t.database.query(sessions)).toEqual(before);
    expect(await t.auth.twoFactor.recoveryCodeCount(id)).toEqual({ remaining: 8, total: 8 });
    await t.database.query('UPDATE members SET email_verified_at = now()');
    await completeChallenge(t, { challenge_token, code: codeOf(t, secret) }).expect(200);
  });

  it('succeeds once, even without a denylist', async () => {
    t = await startTwoFactor({ features: { denylist: false } });
    const { secret } = await enrol(t);
    const challenge_token = await startChallenge(t);
    await completeChallenge(t, { challenge_token, code: codeOf(t, secret) }).expect(200);
    t.clock.advance(30);
    const { body } = await completeChallenge(t, { challenge_token, code: codeOf(t, secret) }).expect(422);
    expect(Object.keys(body.errors)).toEqual(['challenge_token']);
  });

  it('keeps a used challenge for longer than its lifetime', async () => {
    t = await startTwoFactor({ twoFactor: { challengeTtl: 100 } });
    const { secret } = await enrol(t);
    const challenge_token = await startChallenge(t);
    const { exp, iat, jti } = claimsOf(challenge_token) as { exp: number; iat: number; jti: string };
    expect(exp - iat).toBe(100);
    const add = jest.spyOn(t.app.get(SecurityStore), 'add');
    await completeChallenge(t, { challenge_token, code: codeOf(t, secret) }).expect(200);
    const [, , seconds] = add.mock.calls.find(([key]) => key.includes(jti))!;
    expect(seconds).toBeGreaterThanOrEqual(105);
  });
});

@Entity('people')
class Plain extends withAuthColumns() {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;
}

describe('a host whose users cannot store a second factor', () => {
  it('does not start, and the error names the correction', async () => {
    const options = { users: { entity: Plain }, features: { twoFactor: true } };
    await expect(TestApp.start({ options, entities: [Plain] })).rejects.toThrow(
      /store no second factor.*withTwoFactorColumns/,
    );
  });
});

describe('the second factor of several guards', () => {
  const t = twoFactorForFile();

  /** Creates an operator with the id of ada and a separate second factor. */
  const operator = async () => {
    await t.person(ROOT, 'admin');
    const { twoFactor } = t.auth.guard('admin');
    const { otpauthUri, recoveryCodes } = await twoFactor.enrol(
      (await t.database.getRepository(Operator).findOneBy({ id: 1 }))!,
    );
    const secret = secretIn(otpauthUri);
    await twoFactor.confirm('1', codeOf(t, secret));
    t.clock.advance(30);
    return { secret, recoveryCodes, otpauthUri };
  };

  it('has a challenge route at every guard with logins, and enrolment routes at the default guard', async () => {
    expect(routesOf(t).filter((route) => route.includes('two-factor'))).toEqual([
      'DELETE /auth/two-factor',
      'GET /auth/two-factor/recovery-codes',
      'POST /admin/auth/two-factor-challenge',
      'POST /admin/auth/two-factor-enrolment',
      'POST /admin/auth/two-factor-enrolment/confirm',
      'POST /auth/two-factor',
      'POST /auth/two-factor-challenge',
      'POST /auth/two-factor-enrolment',
      'POST /auth/two-factor-enrolment/confirm',
      'POST /auth/two-factor/confirm',
      'POST /auth/two-factor/recovery-codes',
    ]);
  });

  it('is enrolled by server code at a guard without routes for it', async () => {
    const root = await operator();
    expect(decodeURIComponent(root.otpauthUri)).toContain(`:${ROOT}?`);
    const challenge_token = await startChallenge(t, ROOT, 'admin');
    const { body } = await completeChallenge(t, { challenge_token, code: codeOf(t, root.secret) }, 'admin').expect(200);
    expect(claimsOf(body.access_token)).toMatchObject({ aud: ADMIN_AUDIENCE, sub: '1', amr: ['pwd', 'otp'] });
  });

  it('belongs to one guard: the other one refuses its challenge and consumes nothing', async () => {
    const [ada, root] = [await enrol(t), await operator()];
    const own = { api: ada, admin: root };
    for (const [from, at, email] of [
      ['admin', 'api', ROOT],
      ['api', 'admin', ADA],
    ] as const) {
      const challenge_token = await startChallenge(t, email, from);
      for (const { secret, recoveryCodes } of [own[from], own[at]]) {
        for (const answer of [{ code: codeOf(t, secret) }, { recovery_code: recoveryCodes[0] }]) {
          const { body } = await completeChallenge(t, { challenge_token, ...answer }, at).expect(422);
          expect(Object.keys(body.errors)).toEqual(['challenge_token']);
        }
      }
      await completeChallenge(t, { challenge_token, code: codeOf(t, own[from].secret) }, from).expect(200);
    }
    expect(await t.auth.twoFactor.recoveryCodeCount('1')).toEqual({ remaining: 8, total: 8 });
  });
});

describe('the second factor of several guards, one of which has it off', () => {
  const t = twoFactorForFile({ guards: { admin: { features: { twoFactor: false } } } });

  it('is required at the guards that have it on', async () => {
    await t.person(ROOT, 'admin');
    await enrol(t);
    expect((await t.login(ROOT, undefined, 'admin').expect(200)).body.access_token).toEqual(expect.any(String));
    await completeChallenge(t, { challenge_token: await startChallenge(t) }, 'admin').expect(404);
    expect(() => t.auth.guard('admin').twoFactor).toThrow(
      expect.objectContaining({ cause: new AuthConfigError('features.twoFactor is off for the guard "admin".') }),
    );
  });
});

describe('the second factor of two guards that share a table', () => {
  const t = twoFactorForFile({ guards: { admin: { users: { entity: Person } } } });

  it('has one history of codes', async () => {
    const ada = await enrol(t);
    const code = codeOf(t, ada.secret);
    await completeChallenge(t, { challenge_token: await startChallenge(t, ADA, 'admin'), code }, 'admin').expect(200);
    await completeChallenge(t, { challenge_token: await startChallenge(t), code }).expect(422);
    await completeChallenge(t, { challenge_token: await startChallenge(t), code: codeOf(t, ada.secret, -1) }).expect(
      422,
    );
  });
});
