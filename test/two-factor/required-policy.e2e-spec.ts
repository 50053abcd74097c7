import { type AuthModuleOptions } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { TestApp } from '../support/hosts/app';
import { startMembers } from '../support/hosts/members';
import { ORIGIN, PASSKEYS, PasskeyApp } from '../support/flows/passkeys';
import { confirmEnrolment, enrolmentToken, startEnrolment } from '../support/flows/required-factor';
import { RACES_MS, rounds } from '../support/runtime/rounds';
import { routesOf } from '../support/views/routes';
import { ADA, PASSWORD, Person } from '../support/hosts/user-entities';

/** What `twoFactor.required` answers. */
let answer: (user: { email: string }, context: { guard: string }) => unknown = () => true;

const OPTIONS: Partial<AuthModuleOptions> = {
  features: { twoFactor: true, lockout: true },
  lockout: { maxAttempts: 3 },
  twoFactor: { required: async (user, context) => answer(user as { email: string }, context) as boolean },
  sessions: { ttlWithoutRemember: 3600 },
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
const hasTotp = (): Promise<boolean> => t.auth.twoFactor.isEnabled('1');

describe('the policy', () => {
  it('decides for each user and each guard', async () => {
    await t.person(ADA, 'admin');
    const asked: unknown[] = [];
    answer = ({ email }, { guard }) => {
      asked.push([email, guard]);
      return email.startsWith('bob') || guard === 'admin';
    };
    expect((await t.login(ADA).expect(200)).body).toHaveProperty('access_token');
    expect((await t.login('bob@example.com').expect(200)).body).toHaveProperty('enrolment_token');
    const { body } = await t.login(ADA, PASSWORD, 'admin').expect(200);
    expect(body).toMatchObject({ enrolment_required: true, methods: ['totp'] });
    expect(asked).toEqual([
      [ADA, 'api'],
      ['bob@example.com', 'api'],
      [ADA, 'admin'],
    ]);
  });

  it('answers 500, and no tokens, when it throws or returns no boolean', async () => {
    for (const bad of [() => Promise.reject(new Error('down')), () => 'yes', () => undefined]) {
      answer = bad;
      const { body } = await t.login(ADA).expect(500);
      expect(body).toEqual({ message: 'Something went wrong on our side.' });
    }
    expect(await sessions()).toBe(0);
  });
});

describe('the last second factor of a user who must have one', () => {
  const PROOFS = { proof: '', access_token: '', refresh_token: '', expires_in: 0 };
  const signedIn = async () => {
    answer = () => false;
    const user = { ...PROOFS, ...(await app.confirmed()) };
    answer = () => true;
    return user;
  };
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

  it('cannot be removed, and can after another one was set up, or when the policy changes', async () => {
    const user = await signedIn();
    await t.auth.twoFactor.importFactor('1', { secret });
    const { body } = await app.call('delete', 'two-factor', user).expect(409);
    expect(Object.keys(body.errors)).toEqual(['two_factor']);
    expect(await hasTotp()).toBe(true);
    const id = await app.enrol(user, new SoftAuthenticator(ORIGIN));
    await app.call('delete', 'two-factor', user).expect(204);
    expect(await hasTotp()).toBe(false);
    await app.call('delete', `passkeys/${id}`, user).expect(409);
    await app.call('delete', 'passkeys/unknown', user).expect(204);
    const other = await app.enrol(user, new SoftAuthenticator(ORIGIN));
    await app.call('delete', `passkeys/${id}`, user).expect(204);
    await app.call('delete', `passkeys/${other}`, user).expect(409);
    answer = () => false;
    await app.call('delete', `passkeys/${other}`, user).expect(204);
    expect(await app.rows()).toEqual([]);
  });

  it.each(['two-factor', 'passkeys'])(
    'is not removed by a session that ends while the host decides: %s',
    async (path) => {
      const user = await signedIn();
      await t.auth.twoFactor.importFactor('1', { secret });
      const id = await app.enrol(user, new SoftAuthenticator(ORIGIN));
      answer = async () => {
        await t.auth.revokeAll('1');
        return false;
      };
      await app.call('delete', path === 'passkeys' ? `passkeys/${id}` : path, user).expect(401);
      expect([await hasTotp(), (await app.rows()).length]).toEqual([true, 1]);
    },
  );

  it('can be removed by an operator, and a pending one by its user', async () => {
    const user = await signedIn();
    await t.auth.twoFactor.importFactor('1', { secret });
    await t.auth.twoFactor.disable('1');
    await app.call('post', 'two-factor', user).expect(200);
    await app.call('delete', 'two-factor', user).expect(204);
  });

  it(
    'remains when all factors are removed at once',
    async () => {
      for (let round = 0; round < rounds(2); round++) {
        const user = await signedIn();
        await t.auth.twoFactor.importFactor('1', { secret });
        const ids = [
          await app.enrol(user, new SoftAuthenticator(ORIGIN)),
          await app.enrol(user, new SoftAuthenticator(ORIGIN)),
        ];
        const answers = await Promise.all(
          ['two-factor', ...ids.map((id) => `passkeys/${id}`)].map((path) => app.call('delete', path, user)),
        );
        const removed = answers.filter(({ status }) => status === 204).length;
        expect(removed).toBeLessThan(3);
        expect(answers.filter(({ status }) => ![204, 409].includes(status))).toEqual([]);
        expect(Number(await hasTotp()) + (await app.rows()).length).toBe(3 - removed);
        await t.database.query('DELETE FROM svc_passkeys');
        await t.auth.twoFactor.disable('1');
      }
    },
    RACES_MS,
  );
});

describe('a required second factor', () => {
  it('needs passkeys that verify their users, because a sign-in with a passkey is no second step', async () => {
    const passkeys = { ...PASSKEYS.passkeys, userVerification: 'preferred' as const };
    const options = { features: { twoFactor: true, passkeys: true }, passkeys, twoFactor: { required: true } };
    await expect(TestApp.start({ options })).rejects.toThrow(/only one factor without user verification/);
  });

  it('is refused for an extra guard with the users of a default guard that has passkeys', async () => {
    const options = (required: boolean): Partial<AuthModuleOptions> => ({
      features: { twoFactor: true, passkeys: true },
      passkeys: PASSKEYS.passkeys,
      twoFactor: { required: true },
      guards: { admin: { users: { entity: Person }, features: { twoFactor: true }, twoFactor: { required } } },
    });
    await expect(TestApp.start({ options: options(true) })).rejects.toThrow(
      /guard "admin" has the same users as "api", who can have passkeys/,
    );
    await (await TestApp.start({ options: options(false) })).stop();
  });

  it('needs a guard whose users can have one', async () => {
    const start = (options: Partial<AuthModuleOptions>) => TestApp.start({ options });
    await expect(start({ twoFactor: { required: true } })).rejects.toThrow(
      /twoFactor\.required is set, but the users of the guard "admin" can have no second factor/,
    );
    await expect(
      start({ features: { passkeys: true }, passkeys: PASSKEYS.passkeys, twoFactor: { required: true } }),
    ).rejects.toThrow(/guard "admin"/);
    const t2 = await start({
      features: { passkeys: true },
      passkeys: PASSKEYS.passkeys,
      twoFactor: { required: true },
      guards: { admin: { twoFactor: { required: false } } },
    });
    expect(routesOf(t2).filter((route) => route.includes('enrolment'))).toEqual([
      'POST /auth/two-factor-enrolment/passkey',
      'POST /auth/two-factor-enrolment/passkey-options',
    ]);
    await t2.person(ADA);
    expect((await t2.login(ADA).expect(200)).body).toMatchObject({ methods: ['passkey'] });
    await t2.stop();
  });

  it('is asked of a new account, and only after the email was verified where that is required', async () => {
    const { t: members } = await startMembers({
      features: { twoFactor: true },
      twoFactor: { required: true },
      emailVerification: { blockUnverifiedLogin: true },
    });
    const account = { name: 'Ada', email: ADA, password: PASSWORD, password_confirmation: PASSWORD };
    expect((await members.http.post('/auth/register').send(account).expect(201)).body).toMatchObject({
      registered: true,
    });
    await members.login(ADA).expect(403);
    await members.database.query('UPDATE members SET email_verified_at = now()');
    const enrolment_token = await enrolmentToken(members);
    const secret = await startEnrolment(members, enrolment_token);
    await members.database.query('UPDATE members SET email_verified_at = NULL');
    await confirmEnrolment(members, enrolment_token, secret).expect(403);
    await members.database.query('UPDATE members SET email_verified_at = now()');
    await confirmEnrolment(members, enrolment_token, secret).expect(200);
    await members.stop();
  });

  it('is answered to a registration that signs in', async () => {
    const { t: members } = await startMembers({ features: { twoFactor: true }, twoFactor: { required: true } });
    const account = { name: 'Ada', email: ADA, password: PASSWORD, password_confirmation: PASSWORD };
    const { body } = await members.http.post('/auth/register').send(account).expect(200);
    expect(body).toMatchObject({ enrolment_required: true, methods: ['totp'] });
    await confirmEnrolment(members, body.enrolment_token, await startEnrolment(members, body.enrolment_token)).expect(
      200,
    );
    await members.stop();
  });
});
