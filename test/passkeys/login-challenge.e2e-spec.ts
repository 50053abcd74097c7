import { AccountReleased, type AuthModuleOptions } from '@svc/auth';
import { TestApp, claimsOf } from '../support/hosts/app';
import { ADA } from '../support/flows/step-up';
import { UNLIMITED } from '../support/hosts/host.module';
import { type Confirmed, NOT_VERIFIED, ORIGIN, PasskeyApp, UNKNOWN_PASSKEY } from '../support/flows/passkeys';
import { routesOf } from '../support/views/routes';
import { rounds } from '../support/runtime/rounds';
import { SoftAuthenticator } from '@svc/auth/testing';
import { startChallenge, codeOf, completeChallenge, enrol } from '../support/flows/two-factor';
import { VerifiablePerson } from '../support/hosts/user-entities';
import { userProvidersOf } from '../support/stores/user-reads';

const WRONG = { message: 'The code is not correct.', errors: { code: ['The code is not correct.'] } };

let app: PasskeyApp;
let ada: Confirmed;
let authenticator: SoftAuthenticator;

/** Starts one application for a `describe` block, in which ada has just confirmed the password. */
function withPasskeys(options: Partial<AuthModuleOptions> = {}): void {
  const own = PasskeyApp.forFile({ ...options, features: { twoFactor: true, ...options.features } });
  beforeEach(async () => {
    app = own;
    await app.verifyEmails();
    ada = await app.confirmed();
    authenticator = new SoftAuthenticator(ORIGIN);
  });
}

const answer = (from = authenticator) => app.answer(from);
const login = async (email = ADA) => (await app.t.login(email).expect(200)).body;

describe('a passkey as the second step, where it is required', () => {
  withPasskeys({ passkeys: { required: true } });

  it('is required of users with a passkey only', async () => {
    expect(await login()).toHaveProperty('access_token');
    await app.enrol(ada, authenticator);
    expect(await login()).toEqual({ two_factor: true, challenge_token: expect.any(String), methods: ['passkey'] });
    expect(await login('bob@example.com')).toHaveProperty('access_token');
  });

  it('opens a session with the authentication methods in amr', async () => {
    await app.enrol(ada, authenticator);
    const { body, headers } = await completeChallenge(app.t, {
      ...(await answer()),
      challenge_token: await startChallenge(app.t),
    });
    expect(headers['cache-control']).toBe('no-store, private');
    expect(claimsOf(body.access_token)).toMatchObject({ sub: '1', amr: ['pwd', 'webauthn'] });
    const renewed = await app.t.refresh(body.refresh_token).expect(200);
    expect(claimsOf(renewed.body.access_token)).toMatchObject({ amr: ['pwd', 'webauthn'] });
  });

  it('is not accepted as a code, and no code is accepted', async () => {
    await app.enrol(ada, authenticator);
    const challenge_token = await startChallenge(app.t);
    for (const other of [{ code: '123456' }, { recovery_code: 'AAAAAAAAAA-AAAAAAAAAA' }, {}]) {
      await completeChallenge(app.t, { challenge_token, ...other }).expect(422, WRONG);
    }
    await completeChallenge(app.t, { challenge_token, ...(await answer()) }).expect(200);
  });

  it('opens no session once it is deleted', async () => {
    const id = await app.enrol(ada, authenticator);
    const [challenge_token, before] = [await startChallenge(app.t), await app.sessions()];
    await app.call('delete', `passkeys/${id}`, ada).expect(204);
    await completeChallenge(app.t, { challenge_token, ...(await answer()) }).expect(422, UNKNOWN_PASSKEY);
    await app.t.database.query('DELETE FROM people WHERE id = 1');
    await completeChallenge(app.t, { challenge_token, ...(await answer()) }).expect(422);
    expect(await app.sessions()).toBe(before);
  });

  it('is not required of a user with the same id at another guard', async () => {
    await app.enrol(ada, authenticator);
    await app.t.database.query("UPDATE svc_passkeys SET guard = 'admin'");
    expect((await app.t.login(ADA).expect(200)).body).toHaveProperty('access_token');
  });

  it('requires user verification like a sign-in', async () => {
    await app.enrol(ada, authenticator);
    const { ceremony_id, options } = await app.requestOptions();
    const credential = authenticator.get(options, { uv: false });
    await completeChallenge(app.t, { challenge_token: await startChallenge(app.t), ceremony_id, credential }).expect(
      422,
      NOT_VERIFIED,
    );
  });

  it('is not accepted once passkeys are disabled', async () => {
    const { secret } = await enrol(app.t);
    await app.enrol(ada, authenticator);
    const right = await answer();
    const off = await TestApp.start({
      databaseUrl: app.t.databaseUrl,
      options: { features: { twoFactor: true } },
    });
    const { body } = await off.login(ADA).expect(200);
    expect(body.methods).toEqual(['totp', 'recovery_code']);
    await completeChallenge(off, { challenge_token: body.challenge_token, ...right }).expect(422);
    await completeChallenge(off, { challenge_token: body.challenge_token, code: codeOf(off, secret, 1) }).expect(200);
    await off.stop();
  });

  describe('when it is wrong', () => {
    beforeEach(() => app.enrol(ada, authenticator));

    it('opens no session with a passkey of another user, and keeps the challenge', async () => {
      const bob = await app.confirmed('bob@example.com');
      const his = new SoftAuthenticator(ORIGIN);
      await app.enrol(bob, his);
      const [before, challenge_token] = [await app.sessions(), await startChallenge(app.t)];
      await completeChallenge(app.t, { challenge_token, ...(await answer(his)) }).expect(422, NOT_VERIFIED);
      expect(await app.sessions()).toBe(before);
      await completeChallenge(app.t, { challenge_token, ...(await answer()) }).expect(200);
    });

    it.each([
      ['an unknown challenge', () => 'junk'],
      ['an access token', () => ada.access_token],
      ['a confirmation', () => ada.proof],
    ])('opens no session with %s, and is not used up', async (_, token) => {
      const right = await answer();
      const { body } = await completeChallenge(app.t, { challenge_token: token(), ...right }).expect(422);
      expect(Object.keys(body.errors)).toEqual(['challenge_token']);
      await completeChallenge(app.t, { challenge_token: await startChallenge(app.t), ...right }).expect(200);
    });

    it('is answered once, and opens one session for many concurrent answers', async () => {
      for (let round = 0; round < rounds(1); round++) {
        const [before, challenge_token, right] = [await app.sessions(), await startChallenge(app.t), await answer()];
        const all = await Promise.all(
          Array.from({ length: 25 }, () =>
            completeChallenge(app.t, { challenge_token, ...right }).then(({ status }) => status),
          ),
        );
        expect(all.filter((status) => status === 200)).toHaveLength(1);
        expect(all.filter((status) => status === 422)).toHaveLength(24);
        expect(await app.sessions()).toBe(before + 1);
      }
    });

    it.each<[string, object, string[]]>([
      ['a ceremony alone', { ceremony_id: 'x' }, ['credential']],
      ['a credential alone', { credential: {} }, ['ceremony_id']],
      ['a code and a passkey', { ceremony_id: 'x', credential: {}, code: '1' }, ['code', 'ceremony_id', 'credential']],
      ['a text as the credential', { ceremony_id: 'x', credential: 'y' }, ['credential']],
      ['a list as the credential', { ceremony_id: 'x', credential: [1] }, ['credential']],
      ['a number as the ceremony', { ceremony_id: 7, credential: {} }, ['ceremony_id']],
      ['an empty credential', { ceremony_id: 'x', credential: {} }, ['credential']],
    ])('is reported by field for %s', async (_, body, fields) => {
      const challenge_token = await startChallenge(app.t);
      const { body: refused } = await completeChallenge(app.t, { challenge_token, ...body }).expect(422);
      expect(Object.keys(refused.errors)).toEqual(fields);
      await completeChallenge(app.t, { challenge_token, ...(await answer()) }).expect(200);
    });
  });
});

describe('a passkey as the second step, where the host decides whether it is required', () => {
  let required: (user: object) => boolean | Promise<boolean>;
  beforeEach(() => {
    required = () => false;
  });
  withPasskeys({ passkeys: { required: (user) => required(user) } });

  it('is required of the users that the host selects', async () => {
    required = async (user) => (user as { email: string }).email === ADA;
    const bob = await app.confirmed('bob@example.com');
    await app.enrol(ada, authenticator);
    await app.enrol(bob, new SoftAuthenticator(ORIGIN));
    expect(await login()).toHaveProperty('methods', ['passkey']);
    expect(await login('bob@example.com')).toHaveProperty('access_token');
  });

  it('opens no session while the callback of the host fails', async () => {
    await app.enrol(ada, authenticator);
    required = () => {
      throw new Error('an error of the host');
    };
    const { body } = await app.t.login(ADA).expect(500);
    expect(body).not.toHaveProperty('access_token');
  });
});

describe('a passkey as the second step, where it is not required', () => {
  withPasskeys({ lockout: { maxAttempts: 2 } });

  it('is offered beside codes to a user who has both, also where it is not required', async () => {
    await app.enrol(ada, authenticator);
    expect(await login()).toHaveProperty('access_token');
    const { secret, recoveryCodes } = await enrol(app.t);
    expect(await login()).toHaveProperty('methods', ['totp', 'recovery_code', 'passkey']);
    for (const factor of [await answer(), { code: codeOf(app.t, secret) }, { recovery_code: recoveryCodes[0] }]) {
      await completeChallenge(app.t, { challenge_token: await startChallenge(app.t), ...factor }).expect(200);
    }
  });

  it('is never locked, and releases the locks of codes and passwords', async () => {
    const { secret } = await enrol(app.t);
    await app.enrol(ada, authenticator);
    const challenge_token = await startChallenge(app.t);
    for (let i = 0; i < 2; i++) await completeChallenge(app.t, { challenge_token, code: '000000' }).expect(422);
    await completeChallenge(app.t, { challenge_token, code: codeOf(app.t, secret) }).expect(423);
    await app.t.call('post', '/auth/confirm-password', ada.access_token).send({ password: 'wrong' }).expect(422);
    const released = app.t.recorded(AccountReleased);
    await completeChallenge(app.t, { challenge_token, ...(await answer()) }).expect(200);
    expect(released.map(({ purpose }) => purpose).toSorted()).toEqual(['confirm', 'two_factor']);
    await completeChallenge(app.t, {
      challenge_token: await startChallenge(app.t),
      code: codeOf(app.t, secret),
    }).expect(200);
  });
});

describe('a passkey as the second step, beyond the limit of failures', () => {
  let his: SoftAuthenticator;
  // The limit by address also counts these requests, so it is disabled here.
  withPasskeys({
    rateLimits: { ...UNLIMITED, twoFactor: { maxAttempts: 3, decaySeconds: 60 }, limiters: { 'svc-2fa': () => [] } },
    passkeys: { required: true },
  });
  beforeEach(async () => {
    await app.enrol(ada, authenticator);
    his = new SoftAuthenticator(ORIGIN);
    await app.enrol(await app.confirmed('bob@example.com'), his);
  });

  it.each<[string, object, () => Promise<object>]>([
    ['without a ceremony', NOT_VERIFIED, async () => ({ ceremony_id: 'x', credential: {} })],
    [
      'of an authenticator that is not registered',
      UNKNOWN_PASSKEY,
      async () => {
        const unregistered = new SoftAuthenticator(ORIGIN);
        unregistered.create(await app.creationOptions(ada));
        return answer(unregistered);
      },
    ],
    ['of another user', NOT_VERIFIED, () => answer(his)],
  ])('is refused: passkeys %s count like wrong codes', async (_, refusal, wrong) => {
    const challenge_token = await startChallenge(app.t);
    for (let i = 0; i < 3; i++)
      await completeChallenge(app.t, { challenge_token, ...(await wrong()) }).expect(422, refusal);
    const { body } = await completeChallenge(app.t, { challenge_token, ...(await answer()) }).expect(429);
    expect(Object.keys(body.errors)).toEqual(['credential']);
  });

  it('does not count answers to an unknown challenge', async () => {
    const challenge_token = await startChallenge(app.t);
    for (let i = 0; i < 5; i++)
      await completeChallenge(app.t, { challenge_token: 'junk', ...(await answer()) }).expect(422);
    await completeChallenge(app.t, { challenge_token, ...(await answer()) }).expect(200);
  });
});

describe('a passkey as the second step, where unverified users cannot sign in', () => {
  withPasskeys({
    users: { entity: VerifiablePerson },
    passkeys: { required: true },
    emailVerification: { blockUnverifiedLogin: true },
  });

  it('opens no session for a user who must verify the email first', async () => {
    await app.enrol(ada, authenticator);
    for (const users of userProvidersOf(app.t)) jest.spyOn(users, 'isEmailVerified').mockReturnValue(false);
    const [challenge_token, before] = [await startChallenge(app.t), await app.sessions()];
    await completeChallenge(app.t, { challenge_token, ...(await answer()) }).expect(403);
    expect(await app.sessions()).toBe(before);
  });
});

describe('a passkey as the second step, without codes', () => {
  withPasskeys({ features: { twoFactor: false } });

  it('has no route at an extra guard, whose users have no passkeys', async () => {
    expect(routesOf(app.t).filter((route) => route.includes('challenge'))).toEqual(['POST /auth/two-factor-challenge']);
  });
});
