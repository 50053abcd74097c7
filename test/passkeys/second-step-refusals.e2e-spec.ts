import { type AuthModuleOptions, UserProvider } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { Realms } from '../../libs/auth/src/realm/realm';
import { TestApp } from '../support/app';
import { ADA } from '../support/confirming';
import { UNLIMITED } from '../support/host.module';
import { type Confirmed, NOT_VERIFIED, ORIGIN, PasskeyApp } from '../support/passkeys';
import { SoftAuthenticator } from '../support/soft-authenticator';
import { challenge, codeOf, complete, enrol } from '../support/two-factor';

describe('a second step by passkey', () => {
  let app: PasskeyApp;
  let ada: Confirmed;
  let authenticator: SoftAuthenticator;

  const start = async (options: Partial<AuthModuleOptions> = {}): Promise<void> => {
    app = await PasskeyApp.start({ ...options, features: { twoFactor: true, ...options.features } });
    ada = await app.confirmed();
    authenticator = new SoftAuthenticator(ORIGIN);
  };
  const answer = (from = authenticator) => app.answer(from);
  afterEach(() => app.stop());

  describe('beyond the limit of failures', () => {
    let his: SoftAuthenticator;

    beforeEach(async () => {
      // The limit by address counts what the one by account does not see: here it has room.
      const rateLimits = {
        ...UNLIMITED,
        twoFactor: { maxAttempts: 3, decaySeconds: 60 },
        limiters: { 'svc-2fa': () => [] },
      };
      await start({ keyPrefix: randomUUID(), rateLimits, passkeys: { required: true } });
      await app.enrol(ada, authenticator);
      his = new SoftAuthenticator(ORIGIN);
      await app.enrol(await app.confirmed('bob@example.com'), his);
    });

    it.each<[string, () => Promise<object>]>([
      ['without a ceremony', async () => ({ ceremony_id: 'x', credential: {} })],
      [
        'of an authenticator that nobody registered',
        async () => {
          const stranger = new SoftAuthenticator(ORIGIN);
          stranger.create(await app.creationOptions(ada));
          return answer(stranger);
        },
      ],
      ['of somebody else', () => answer(his)],
    ])('is refused, for passkeys %s count like wrong codes', async (_, wrong) => {
      const challenge_token = await challenge(app.t);
      for (let i = 0; i < 3; i++)
        await complete(app.t, { challenge_token, ...(await wrong()) }).expect(422, NOT_VERIFIED);
      const { body } = await complete(app.t, { challenge_token, ...(await answer()) }).expect(429);
      expect(Object.keys(body.errors)).toEqual(['credential']);
    });

    it('is not refused for answers to what is no challenge', async () => {
      const challenge_token = await challenge(app.t);
      for (let i = 0; i < 5; i++) await complete(app.t, { challenge_token: 'junk', ...(await answer()) }).expect(422);
      await complete(app.t, { challenge_token, ...(await answer()) }).expect(200);
    });
  });

  it('has no more to say once it is deleted, and what it would have said opens nothing', async () => {
    await start({ passkeys: { required: true } });
    const id = await app.enrol(ada, authenticator);
    const [challenge_token, before] = [await challenge(app.t), await app.sessions()];
    await app.call('delete', `passkeys/${id}`, ada).expect(204);
    await complete(app.t, { challenge_token, ...(await answer()) }).expect(422, NOT_VERIFIED);
    await app.t.database.query('DELETE FROM people WHERE id = 1');
    await complete(app.t, { challenge_token, ...(await answer()) }).expect(422);
    expect(await app.sessions()).toBe(before);
  });

  it('opens no session for who has to verify the email first', async () => {
    await start({ passkeys: { required: true }, emailVerification: { blockUnverifiedLogin: true } });
    await app.enrol(ada, authenticator);
    const users = app.t.app.get(Realms).default.get(UserProvider);
    jest.spyOn(users, 'isEmailVerified').mockReturnValue(false);
    const [challenge_token, before] = [await challenge(app.t), await app.sessions()];
    await complete(app.t, { challenge_token, ...(await answer()) }).expect(403);
    expect(await app.sessions()).toBe(before);
  });

  it('is nothing that a user of the same id at another guard has', async () => {
    await start({ passkeys: { required: true } });
    await app.enrol(ada, authenticator);
    await app.t.database.query("UPDATE passkeys SET guard = 'admin'");
    expect((await app.t.login(ADA).expect(200)).body).toHaveProperty('access_token');
  });

  it('needs user verification like a sign-in', async () => {
    await start({ passkeys: { required: true } });
    await app.enrol(ada, authenticator);
    const { ceremony_id, options } = await app.requestOptions();
    const credential = authenticator.get(options, { uv: false });
    await complete(app.t, { challenge_token: await challenge(app.t), ceremony_id, credential }).expect(
      422,
      NOT_VERIFIED,
    );
  });

  it('is not known once passkeys are switched off', async () => {
    await start({ passkeys: { required: true } });
    const { secret } = await enrol(app.t);
    await app.enrol(ada, authenticator);
    const right = await answer();
    const off = await TestApp.start({
      databaseUrl: app.t.databaseUrl,
      options: { features: { twoFactor: true } },
    });
    const { body } = await off.login(ADA).expect(200);
    expect(body.methods).toEqual(['totp', 'recovery_code']);
    await complete(off, { challenge_token: body.challenge_token, ...right }).expect(422);
    await complete(off, { challenge_token: body.challenge_token, code: codeOf(off, secret, 1) }).expect(200);
    await off.stop();
  });
});
