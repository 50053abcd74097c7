import { AccountReleased, type AuthModuleOptions } from '@svc/auth';
import { claimsOf } from '../support/app';
import { ADA } from '../support/confirming';
import { type Confirmed, NOT_VERIFIED, ORIGIN, PasskeyApp } from '../support/passkeys';
import { routesOf } from '../support/routes';
import { SoftAuthenticator } from '../support/soft-authenticator';
import { challenge, codeOf, complete, enrol } from '../support/two-factor';

const WRONG = { message: 'The code is not correct.', errors: { code: ['The code is not correct.'] } };

describe('a passkey as the second step', () => {
  let app: PasskeyApp;
  let ada: Confirmed;
  let authenticator: SoftAuthenticator;

  const start = async (options: Partial<AuthModuleOptions> = {}): Promise<void> => {
    app = await PasskeyApp.start({ ...options, features: { twoFactor: true, ...options.features } });
    ada = await app.confirmed();
    authenticator = new SoftAuthenticator(ORIGIN);
  };
  const answer = (from = authenticator) => app.answer(from);
  const login = async (email = ADA) => (await app.t.login(email).expect(200)).body;
  afterEach(() => app.stop());

  describe('where it is required', () => {
    beforeEach(() => start({ passkeys: { required: true } }));

    it('is asked for from whoever has one, and from nobody else', async () => {
      expect(await login()).toHaveProperty('access_token');
      await app.enrol(ada, authenticator);
      expect(await login()).toEqual({ two_factor: true, challenge_token: expect.any(String), methods: ['passkey'] });
      expect(await login('bob@example.com')).toHaveProperty('access_token');
    });

    it('opens a session that says how', async () => {
      await app.enrol(ada, authenticator);
      const { body, headers } = await complete(app.t, { ...(await answer()), challenge_token: await challenge(app.t) });
      expect(headers['cache-control']).toBe('no-store, private');
      expect(claimsOf(body.access_token)).toMatchObject({ sub: '1', amr: ['pwd', 'webauthn'] });
      const renewed = await app.t.refresh(body.refresh_token).expect(200);
      expect(claimsOf(renewed.body.access_token)).toMatchObject({ amr: ['pwd', 'webauthn'] });
    });

    it('is no code, and without codes there is none to guess', async () => {
      await app.enrol(ada, authenticator);
      const challenge_token = await challenge(app.t);
      for (const other of [{ code: '123456' }, { recovery_code: 'AAAAAAAAAA-AAAAAAAAAA' }, {}]) {
        await complete(app.t, { challenge_token, ...other }).expect(422, WRONG);
      }
      await complete(app.t, { challenge_token, ...(await answer()) }).expect(200);
    });
  });

  it('is asked for from those whom the host names', async () => {
    const required = async (user: object): Promise<boolean> => (user as { email: string }).email === ADA;
    await start({ passkeys: { required } });
    const bob = await app.confirmed('bob@example.com');
    await app.enrol(ada, authenticator);
    await app.enrol(bob, new SoftAuthenticator(ORIGIN));
    expect(await login()).toHaveProperty('methods', ['passkey']);
    expect(await login('bob@example.com')).toHaveProperty('access_token');
  });

  it('lets nobody in while the host cannot say', async () => {
    let knows = true;
    const required = (): boolean => {
      if (knows) return false;
      throw new Error('the host`s own fault');
    };
    await start({ passkeys: { required } });
    await app.enrol(ada, authenticator);
    knows = false;
    const { body } = await app.t.login(ADA).expect(500);
    expect(body).not.toHaveProperty('access_token');
  });

  it('stands beside the codes of whoever has both, also where it is not required', async () => {
    await start();
    await app.enrol(ada, authenticator);
    expect(await login()).toHaveProperty('access_token');
    const { secret, recoveryCodes } = await enrol(app.t);
    expect(await login()).toHaveProperty('methods', ['totp', 'recovery_code', 'passkey']);
    for (const one of [await answer(), { code: codeOf(app.t, secret) }, { recovery_code: recoveryCodes[0] }]) {
      await complete(app.t, { challenge_token: await challenge(app.t), ...one }).expect(200);
    }
  });

  describe('when it is wrong', () => {
    beforeEach(async () => {
      await start({ passkeys: { required: true } });
      await app.enrol(ada, authenticator);
    });

    it('opens no session for somebody else`s, and leaves the challenge', async () => {
      const bob = await app.confirmed('bob@example.com');
      const his = new SoftAuthenticator(ORIGIN);
      await app.enrol(bob, his);
      const [before, challenge_token] = [await app.sessions(), await challenge(app.t)];
      await complete(app.t, { challenge_token, ...(await answer(his)) }).expect(422, NOT_VERIFIED);
      expect(await app.sessions()).toBe(before);
      await complete(app.t, { challenge_token, ...(await answer()) }).expect(200);
    });

    it.each([
      ['no challenge of a login', () => 'junk'],
      ['an access token', () => ada.access_token],
      ['a proof', () => ada.proof],
    ])('opens none with %s, and is not used up', async (_, token) => {
      const right = await answer();
      const { body } = await complete(app.t, { challenge_token: token(), ...right }).expect(422);
      expect(Object.keys(body.errors)).toEqual(['challenge_token']);
      await complete(app.t, { challenge_token: await challenge(app.t), ...right }).expect(200);
    });

    it('is answered once, and opens one session of fifty at once', async () => {
      for (let round = 0; round < 5; round++) {
        const [before, challenge_token, right] = [await app.sessions(), await challenge(app.t), await answer()];
        const all = await Promise.all(
          Array.from({ length: 50 }, () => complete(app.t, { challenge_token, ...right }).then(({ status }) => status)),
        );
        expect(all.filter((status) => status === 200)).toHaveLength(1);
        expect(all.filter((status) => status === 422)).toHaveLength(49);
        expect(await app.sessions()).toBe(before + 1);
      }
    });

    it.each<[string, object, string[]]>([
      ['a ceremony alone', { ceremony_id: 'x' }, ['credential']],
      ['a credential alone', { credential: {} }, ['ceremony_id']],
      ['a code beside it', { ceremony_id: 'x', credential: {}, code: '1' }, ['code', 'ceremony_id', 'credential']],
      ['a text for a credential', { ceremony_id: 'x', credential: 'y' }, ['credential']],
      ['a list for a credential', { ceremony_id: 'x', credential: [1] }, ['credential']],
      ['a number for a ceremony', { ceremony_id: 7, credential: {} }, ['ceremony_id']],
      ['an empty credential', { ceremony_id: 'x', credential: {} }, ['credential']],
    ])('is told so of %s', async (_, body, fields) => {
      const challenge_token = await challenge(app.t);
      const { body: refused } = await complete(app.t, { challenge_token, ...body }).expect(422);
      expect(Object.keys(refused.errors)).toEqual(fields);
      await complete(app.t, { challenge_token, ...(await answer()) }).expect(200);
    });
  });

  it('is never locked out, and lets go of the locks of codes and passwords', async () => {
    await start({ lockout: { maxAttempts: 2 } });
    const { secret } = await enrol(app.t);
    await app.enrol(ada, authenticator);
    const challenge_token = await challenge(app.t);
    for (let i = 0; i < 2; i++) await complete(app.t, { challenge_token, code: '000000' }).expect(422);
    await complete(app.t, { challenge_token, code: codeOf(app.t, secret) }).expect(423);
    await app.t.call('post', '/auth/confirm-password', ada.access_token).send({ password: 'wrong' }).expect(422);
    const released = app.t.recorded(AccountReleased);
    await complete(app.t, { challenge_token, ...(await answer()) }).expect(200);
    expect(released.map(({ purpose }) => purpose).toSorted()).toEqual(['confirm', 'two_factor']);
    await complete(app.t, { challenge_token: await challenge(app.t), code: codeOf(app.t, secret) }).expect(200);
  });

  it('has no route at an extra guard, whose users have no passkeys', async () => {
    await start({ features: { twoFactor: false } });
    expect(routesOf(app.t).filter((route) => route.includes('challenge'))).toEqual(['POST /auth/two-factor-challenge']);
  });
});
