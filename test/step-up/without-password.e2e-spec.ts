import {
  Auth,
  Authenticated,
  type Caller,
  CurrentCaller,
  PasswordChanged,
  PasswordHasher,
  SecurityStore,
  UserProvider,
} from '@svc/auth';
import { Controller, Inject, Post } from '@nestjs/common';
import { SoftAuthenticator, totpCode } from '@svc/auth/testing';
import { TestApp, claimsOf } from '../support/hosts/app';
import { ORIGIN, PASSKEYS } from '../support/flows/passkeys';
import { CONFIRMATION_HEADER } from '../support/flows/step-up';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

/** Confirms the identity in a way of the host, for example with a social provider. */
@Controller('host-proof')
class HostProof {
  constructor(@Inject(Auth) private readonly auth: Auth) {}

  @Post()
  @Authenticated()
  async confirm(@CurrentCaller() caller: Caller) {
    return { proof: await this.auth.confirm(caller) };
  }

  @Post('staff')
  @Authenticated('admin')
  async confirmStaff(@CurrentCaller() caller: Caller) {
    return { proof: await this.auth.confirm(caller) };
  }
}

const FEATURES = { twoFactor: true, passkeys: true };
const NEXT = 'another-battery-staple';

const withoutPassword = async (t: TestApp): Promise<string> => {
  const [{ id }] = await t.database.query("INSERT INTO people (email) VALUES ('ada@example.com') RETURNING id");
  return String(id);
};

const confirmed = (t: TestApp, method: 'post' | 'delete', path: string, token: string, proof = '') =>
  t.call(method, path, token).set(CONFIRMATION_HEADER, proof);

describe('a user without a password', () => {
  const t = TestApp.forFile({
    options: { features: FEATURES, passkeys: PASSKEYS.passkeys },
    controllers: [HostProof],
  });
  let token: string;
  let id: string;
  beforeEach(async () => {
    id = await withoutPassword(t);
    token = (await t.auth.startSession(id, { amr: ['fed'] })).accessToken;
  });
  const proofOf = async (access = token): Promise<string> =>
    (await t.call('post', '/host-proof', access).expect(201)).body.proof;

  it('gets 423 with the ways that the user has: none, a passkey, a password', async () => {
    const methods = async (): Promise<string> =>
      (await t.call('post', '/auth/two-factor', token).expect(423)).headers['x-svc-confirmation-methods']!;
    expect(await methods()).toBe('');
    const proof = await proofOf();
    const authenticator = new SoftAuthenticator(ORIGIN);
    const { body } = await confirmed(t, 'post', '/auth/passkeys/registration-options', token, proof).expect(200);
    const credential = authenticator.create(body);
    await confirmed(t, 'post', '/auth/passkeys', token, proof).send({ credential }).expect(204);
    expect(await methods()).toBe('passkey');
    await confirmed(t, 'post', '/auth/password', token, proof)
      .send({ password: NEXT, password_confirmation: NEXT })
      .expect(200);
    expect(await methods()).toBe('password, passkey');
  });

  it('enrols, exports and deletes with the confirmation of the host', async () => {
    const proof = await proofOf();
    const { body } = await confirmed(t, 'post', '/auth/two-factor', token, proof).expect(200);
    const code = totpCode(body.otpauth_uri, t.clock);
    await confirmed(t, 'post', '/auth/two-factor/confirm', token, proof).send({ code }).expect(204);
    await t.get('/auth/account/export', token).set(CONFIRMATION_HEADER, proof).expect(200);
    await confirmed(t, 'delete', '/auth/account', token, proof).expect(204);
    await t.get('/auth/sessions', token).expect(401);
  });

  it('cannot use the confirmation of the host in another session, at another guard or after its lifetime', async () => {
    const proof = await proofOf();
    const { accessToken: other } = await t.auth.startSession(id);
    const { body, headers } = await confirmed(t, 'post', '/auth/two-factor', other, proof).expect(423);
    expect(body).toEqual({ message: expect.any(String), reason: 'confirmation_session_mismatch' });
    expect(headers['x-svc-confirmation-methods']).toBe('');
    await t.person(ADA, 'admin');
    const staff = (await t.session(ADA, 'admin')).access_token;
    // The injected Auth is that of the default guard: it confirms no caller of another guard.
    await t.call('post', '/host-proof/staff', staff).expect(401);
    t.clock.advance(306);
    await confirmed(t, 'post', '/auth/two-factor', token, proof).expect(423);
  });

  it('is not confirmed by the host in a pinned session without the ability, which also learns no methods', async () => {
    await t.person('bob@example.com');
    const { accessToken: pinned } = await t.auth.startSession('2', {}, ['orders.read']);
    await t.call('post', '/host-proof', pinned).expect(403);
    const { headers } = await t.call('post', '/auth/two-factor', pinned).expect(423);
    expect(headers['x-svc-confirmation-methods']).toBe('');
    const { accessToken: able } = await t.auth.startSession('2', {}, ['svc.account']);
    await t.call('post', '/host-proof', able).expect(201);
    const { headers: shown } = await t.call('post', '/auth/two-factor', able).expect(423);
    expect(shown['x-svc-confirmation-methods']).toBe('password');
  });

  it('sets no first password from a session that ends while its hash waits', async () => {
    const proof = await proofOf();
    const hasher = t.app.get(PasswordHasher);
    const hash = hasher.hash.bind(hasher);
    jest.spyOn(hasher, 'hash').mockImplementationOnce(async (password) => {
      await t.auth.revokeAll(id);
      return hash(password);
    });
    const body = { password: NEXT, password_confirmation: NEXT };
    await confirmed(t, 'post', '/auth/password', token, proof).send(body).expect(401);
    await t.login(ADA, NEXT).expect(422);
  });

  it('keeps no first password of a session that ends while it is stored', async () => {
    const proof = await proofOf();
    const users = t.app.get(UserProvider);
    const save = users.savePasswordHash.bind(users);
    let inBetween = 0;
    jest.spyOn(users, 'savePasswordHash').mockImplementationOnce(async (...args) => {
      await t.auth.revokeAll(id);
      const isSaved = await save(...args);
      inBetween = (await t.login(ADA, NEXT)).status;
      return isSaved;
    });
    const body = { password: NEXT, password_confirmation: NEXT };
    await confirmed(t, 'post', '/auth/password', token, proof).send(body).expect(401);
    expect(inBetween).toBe(200);
    await t.login(ADA, NEXT).expect(422);
    expect(await t.database.query('SELECT 1 FROM svc_sessions WHERE revoked_at IS NULL')).toEqual([]);
  });

  it('sets a first password with a confirmation, and only once', async () => {
    const changed = t.recorded(PasswordChanged);
    const send = (password = NEXT, proof = '') =>
      confirmed(t, 'post', '/auth/password', token, proof).send({ password, password_confirmation: password });
    const { accessToken: other } = await t.auth.startSession(id);
    await send().expect(423);
    const proof = await proofOf();
    await send('short', proof).expect(422);
    await send(NEXT, proof).expect(200);
    expect(changed).toHaveLength(1);
    await t.get('/auth/sessions', other).expect(401);
    await t.get('/auth/sessions', token).expect(200);
    await t.login(ADA, NEXT).expect(200);
    // Now there is a current password, and a confirmation does not replace it.
    const { body } = await send(PASSWORD, proof).expect(422);
    expect(body.errors).toEqual({ current_password: ['The current password field is required.'] });
    await t.login(ADA, PASSWORD).expect(422);
  });

  it('sets one first password of several concurrent ones', async () => {
    const proof = await proofOf();
    const passwords = ['first', 'second', 'third'].map((word) => `${word}-battery-staple`);
    const statuses = await Promise.all(
      passwords.map(async (password) => {
        const call = confirmed(t, 'post', '/auth/password', token, proof);
        return (await call.send({ password, password_confirmation: password })).status;
      }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    // 423: the confirmation has ended with the first password, before the request was checked.
    expect(statuses.filter((status) => ![200, 422, 423].includes(status))).toEqual([]);
    await t.login(ADA, passwords[statuses.indexOf(200)]).expect(200);
  });

  it('is refused with a guessed current password as before', async () => {
    const body = { current_password: 'guess', password: NEXT, password_confirmation: NEXT };
    const answer = await t.call('post', '/auth/password', token).send(body).expect(422);
    expect(Object.keys(answer.body.errors)).toEqual(['current_password']);
  });
});

describe('confirm.afterLogin', () => {
  const t = TestApp.forFile({
    options: { confirm: { afterLogin: true, ttl: 120 }, features: FEATURES, passkeys: PASSKEYS.passkeys },
  });
  const enrol = (token: string) => t.call('post', '/auth/two-factor', token);

  it('counts a sign-in for the lifetime of a confirmation, also after a refresh', async () => {
    await t.person(ADA);
    const session = await t.session();
    await enrol(session.access_token).expect(200);
    t.clock.advance(60);
    const next = (await t.refresh(session.refresh_token).expect(200)).body;
    await enrol(next.access_token).expect(200);
    t.clock.advance(60);
    const { headers } = await enrol(next.access_token).expect(423);
    expect(headers['x-svc-confirmation-methods']).toBe('password, login');
    await enrol((await t.session()).access_token).expect(200);
  });

  it.each<[string, (token: string) => Promise<unknown>]>([
    [
      'in its session',
      (token) => {
        const body = { current_password: PASSWORD, password: NEXT, password_confirmation: NEXT };
        return t.call('post', '/auth/password', token).send(body).expect(200);
      },
    ],
    [
      'by code of the host',
      async () => {
        const digest = await t.app.get(PasswordHasher).hash(NEXT);
        await t.database.query('UPDATE people SET password_hash = $1', [digest]);
      },
    ],
  ])('does not count a sign-in from before a change of the password %s', async (_, change) => {
    await t.person(ADA);
    const { access_token: token } = await t.session();
    await enrol(token).expect(200);
    await change(token);
    await enrol(token).expect(423);
    const { body } = await t.login(ADA, NEXT).expect(200);
    await enrol(body.access_token).expect(200);
  });

  it('does not count a sign-in whose record the security store has lost', async () => {
    await t.person(ADA);
    const { access_token: token } = await t.session();
    await t.app.get(SecurityStore).take(`svc:sign-in:${claimsOf(token).fid}`);
    await enrol(token).expect(423);
  });

  it('does not count for sessions that no user has signed in to', async () => {
    const id = await withoutPassword(t);
    const started = async (
      ...args: Parameters<typeof t.auth.startSession> extends [unknown, ...infer Rest] ? Rest : never
    ) => (await t.auth.startSession(id, ...args)).accessToken;
    await enrol(await started({ amr: ['fed'] })).expect(200);
    await enrol(await started()).expect(423);
    await enrol(await started({ amr: ['fed'], claims: { act: { sub: 'support' } } })).expect(423);
    const acting = await t.auth.startSession(id, { amr: ['fed'], claims: { act: { sub: 'support' } } });
    await enrol((await t.refresh(acting.refreshToken).expect(200)).body.access_token).expect(423);
    await enrol(await started({ amr: ['fed'] }, ['*'])).expect(423);
    await enrol(await started({ amr: ['fed'], authTime: t.clock.seconds() - 121 })).expect(423);
    await enrol(await started({ amr: ['fed'], authTime: t.clock.seconds() + 60 })).expect(423);
  });

  it('does not count a token without the pin claim for a pinned session', async () => {
    const id = await withoutPassword(t);
    const { accessToken } = await t.auth.startSession(id, { amr: ['fed'] });
    await t.database.query("UPDATE svc_sessions SET scope = '*' WHERE id = $1", [claimsOf(accessToken).fid]);
    await enrol(accessToken).expect(423);
  });
});
