import { RecoveryCodeUsed } from '@svc/auth';
import { type TestApp, claimsOf } from '../support/app';
import { forge } from '../support/forge';
import {
  ADA,
  type Enrolled,
  asConfirmed,
  challenge,
  codeOf,
  complete,
  enrol,
  startTwoFactor,
} from '../support/two-factor';

const WRONG = { message: 'The code is not correct.', errors: { code: ['The code is not correct.'] } };
const EXPIRED = 'This sign-in has expired. Please start again.';
const BAD = { message: EXPIRED, errors: { challenge_token: [EXPIRED] } };

describe('the login challenge', () => {
  let t: TestApp;
  let ada: Enrolled;

  const remaining = async (): Promise<number> =>
    (await t.get('/auth/two-factor/recovery-codes', ada.token).expect(200)).body.remaining;
  const sessions = async (): Promise<number> =>
    (await t.database.query('SELECT count(*)::int AS n FROM svc_sessions'))[0].n;

  beforeEach(async () => {
    t = await startTwoFactor();
    ada = await enrol(t);
  });
  afterEach(() => t.stop());

  it('is answered by a code, with a session that says how', async () => {
    const challenge_token = await challenge(t);
    const { body, headers } = await complete(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(200);
    expect(Object.keys(body).toSorted()).toEqual(['access_token', 'expires_in', 'refresh_token', 'token_type']);
    expect(headers['cache-control']).toBe('no-store, private');
    expect(claimsOf(body.access_token)).toMatchObject({ sub: '1', amr: ['pwd', 'otp'] });
    const renewed = await t.refresh(body.refresh_token).expect(200);
    expect(claimsOf(renewed.body.access_token)).toMatchObject({ amr: ['pwd', 'otp'] });
  });

  it('is answered by a recovery code, once', async () => {
    const used = t.recorded(RecoveryCodeUsed);
    const recovery_code = ada.recoveryCodes[5]!;
    const { body } = await complete(t, { challenge_token: await challenge(t), recovery_code }).expect(200);
    expect(claimsOf(body.access_token)).toMatchObject({ amr: ['pwd', 'otp'] });
    expect(used).toEqual([{ userId: '1', guard: 'api', remaining: 7 }]);
    const again = await complete(t, { challenge_token: await challenge(t), recovery_code }).expect(422);
    expect(again.body).toEqual(WRONG);
    expect(await remaining()).toBe(7);
  });

  it('takes codes as people type them', async () => {
    const code = codeOf(t, ada.secret);
    const spaced = ` ${code.slice(0, 3)} ${code.slice(3)} `;
    await complete(t, { challenge_token: await challenge(t), code: spaced }).expect(200);
    await complete(t, { challenge_token: await challenge(t), recovery_code: ` ${ada.recoveryCodes[0]} ` }).expect(200);
  });

  it('counts the letters of a recovery code as they are', async () => {
    const challenge_token = await challenge(t);
    const flipped = (code: string) => code.replaceAll(/[a-z]/gi, (c) => (c < 'a' ? c.toLowerCase() : c.toUpperCase()));
    for (const code of [flipped(ada.recoveryCodes[0]!), ada.recoveryCodes[0]!.replace('-', ''), '', 'x'.repeat(255)]) {
      await complete(t, { challenge_token, recovery_code: code }).expect(422);
    }
    expect(await remaining()).toBe(8);
  });

  it('opens one session, whatever it is answered with', async () => {
    const challenge_token = await challenge(t);
    const before = await sessions();
    await complete(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(200);
    for (const answer of [{ code: codeOf(t, ada.secret, 1) }, { recovery_code: ada.recoveryCodes[0] }, {}]) {
      const { body } = await complete(t, { challenge_token, ...answer }).expect(422);
      expect(body).toEqual(BAD);
    }
    expect(await sessions()).toBe(before + 1);
    expect(await remaining()).toBe(8);
  });

  it('stays good after a wrong answer', async () => {
    const challenge_token = await challenge(t);
    for (const answer of [{ code: '000000' }, {}, { code: null }, { code: '' }, { recovery_code: 'junk' }]) {
      const { body } = await complete(t, { challenge_token, ...answer }).expect(422);
      expect(body).toEqual(WRONG);
    }
    await complete(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(200);
  });

  it.each([
    [
      'a code and a recovery code',
      (): object => ({ code: codeOf(t, ada.secret), recovery_code: ada.recoveryCodes[0] }),
    ],
    ['a code and a junk recovery code', (): object => ({ code: codeOf(t, ada.secret), recovery_code: 'x' })],
  ])('takes %s for neither, and uses nothing up', async (_, both) => {
    const challenge_token = await challenge(t);
    const { body } = await complete(t, { challenge_token, ...both() }).expect(422);
    expect(Object.keys(body.errors)).toEqual(['code', 'recovery_code']);
    expect(await remaining()).toBe(8);
    await complete(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(200);
  });

  it.each([
    [undefined, 'is required'],
    [null, 'is required'],
    ['', 'is required'],
    [7, 'must be a string'],
    [['x'], 'must be a string'],
    [{}, 'must be a string'],
  ])('needs a challenge token that is a text: %j %s', async (challenge_token, problem) => {
    const { body } = await complete(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(422);
    expect(body.errors).toEqual({ challenge_token: [`The challenge token field ${problem}.`] });
  });

  it.each([['code'], ['recovery_code']])('needs %s to be a text', async (field) => {
    const challenge_token = await challenge(t);
    for (const value of [123456, ['123456'], { a: 1 }, true, 'x'.repeat(256)]) {
      const { body } = await complete(t, { challenge_token, [field]: value }).expect(422);
      expect(Object.keys(body.errors)).toEqual([field]);
    }
  });

  it('lives for its time and no longer', async () => {
    t.clock.stop();
    const challenge_token = await challenge(t);
    t.clock.advance(304);
    await complete(t, { challenge_token, code: '000000' }).expect(422, WRONG);
    t.clock.advance(1);
    await complete(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(422, BAD);
    expect(await remaining()).toBe(8);
  });

  it('is no access token and no proof, and neither of them is a challenge', async () => {
    const challenge_token = await challenge(t);
    await t.get('/private', challenge_token).expect(401);
    await asConfirmed(t, 'post', '/auth/two-factor/recovery-codes', ada.token, challenge_token).expect(423);
    for (const token of [ada.proof, ada.token]) {
      await complete(t, { challenge_token: token, code: codeOf(t, ada.secret) }).expect(422, BAD);
    }
  });

  it.each<[string, object]>([
    ['of another guard', { claims: { gid: 'admin' } }],
    ['for another audience', { claims: { aud: ['https://elsewhere'] } }],
    ['whose audience is no list', { claims: { aud: 'https://api.example.com' } }],
    ['with a subject that is no text', { claims: { sub: 1 } }],
    ['with a list of subjects', { claims: { sub: ['1'] } }],
    ['without an id', { claims: { jti: undefined } }],
    ['with an empty id', { claims: { jti: '' } }],
    ['with a fingerprint of no password', { claims: { fpr: undefined } }],
    ['with another fingerprint', { claims: { fpr: 'f'.repeat(64) } }],
    ['with a list as fingerprint', { claims: { fpr: ['f'] } }],
    ['with the id of another one', { claims: { jti: '5c8d2c2b-6c2f-4b9e-8d6f-0d3f2f6c1a11' } }],
    ['that never expires', { claims: { exp: undefined } }],
    ['that lives longer than one of ours', { claims: { exp: 1e18 } }],
    ['whose expiry is a text', { claims: { exp: '9999999999' } }],
    ['of another key', { secret: 'another-secret-of-enough-bytes-0123456789' }],
    ['of an access token`s type', { header: { typ: 'at+jwt' } }],
  ])('is refused when it is one %s, and nothing is used up', async (_, change) => {
    const exp = t.clock.seconds() + 300;
    const { jti, fpr } = claimsOf(await challenge(t));
    const good = { gid: 'api', aud: ['https://api.example.com'], fid: undefined, scope: undefined, exp, jti, fpr };
    const { claims = {}, header = {}, ...rest } = change as { claims?: object; header?: object };
    const token = (over: object, head: object): string =>
      forge({ ...rest, claims: { ...good, ...over }, header: { typ: '2fa+challenge', ...head } });
    await complete(t, { challenge_token: token(claims, header), code: codeOf(t, ada.secret) }).expect(422, BAD);
    const sound = forge({ claims: good, header: { typ: '2fa+challenge' } });
    await complete(t, { challenge_token: sound, code: codeOf(t, ada.secret) }).expect(200);
  });

  it('opens no session for a user who disabled the second factor meanwhile', async () => {
    const challenge_token = await challenge(t);
    await asConfirmed(t, 'delete', '/auth/two-factor', ada.token, ada.proof).expect(204);
    await complete(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(422, WRONG);
    await complete(t, { challenge_token, recovery_code: ada.recoveryCodes[0] }).expect(422, WRONG);
  });

  it('opens no session for a user who is gone', async () => {
    const challenge_token = await challenge(t);
    await t.database.query(`DELETE FROM people WHERE email = '${ADA}'`);
    await complete(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(422, WRONG);
    await complete(t, { challenge_token, recovery_code: ada.recoveryCodes[0] }).expect(422, WRONG);
  });
});
