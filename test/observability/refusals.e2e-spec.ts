import { SecurityStore, StoreUnavailable } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { type TestApp, claimsOf } from '../support/app';
import { API_URL, linkIn } from '../support/members';
import { ORIGIN, PasskeyApp } from '../support/passkeys';
import { LoggingApp, SEEN_BY, SecurityLines, reasonsIn } from '../support/security-lines';
import { SoftAuthenticator } from '../support/soft-authenticator';
import { challenge, codeOf, complete, enrol } from '../support/two-factor';

const WRONG = 'wrong-horse-battery';

describe('the security log says that', () => {
  const log = new SecurityLines();
  let app: LoggingApp;
  let t: TestApp;

  beforeAll(async () => {
    app = await LoggingApp.start(log);
    t = app.t;
  });
  beforeEach(() => app.next());
  afterAll(() => t.stop());

  it('a route was closed to a token, before the library`s routes and the host`s', async () => {
    const refused = { event: 'auth.guard.refused', guard: 'api', ip: '127.0.0.1' };
    const { access_token: token } = await app.session();
    expect(await log.lineOf(() => t.get('/private'), 401)).toEqual({ ...refused, reason: 'missing_token' });
    expect(await log.lineOf(() => t.get('/private', 'a.b.c'), 401)).toEqual({ ...refused, reason: 'invalid_token' });
    const known = { user_id: app.id, session_id: claimsOf(token).fid };
    expect(await log.lineOf(() => t.get('/able', token), 403)).toEqual({
      ...refused,
      ...known,
      reason: 'insufficient_scope',
    });
    expect(await log.lineOf(() => t.call('post', '/auth/two-factor', token), 423)).toEqual({
      ...refused,
      ...known,
      reason: 'confirmation_required',
      operation: 'two_factor_enrol',
    });
    const foreign = { token, proof: (await app.confirmed()).proof };
    expect((await log.lineOf(() => app.call('post', '/auth/two-factor', foreign), 423)).reason).toBe(
      'confirmation_session_mismatch',
    );
    jest.spyOn(app.users, 'isEmailVerified').mockReturnValueOnce(false);
    expect((await log.lineOf(() => t.get('/verified', token), 409)).reason).toBe('email_unverified');
    await t.get('/seldom', token).expect(200);
    expect((await log.lineOf(() => t.get('/seldom', token), 429)).reason).toBe('too_many_requests');
    jest.spyOn(t.app.get(SecurityStore), 'getMany').mockRejectedValueOnce(new StoreUnavailable('Redis'));
    expect((await log.lineOf(() => t.get('/private', token), 503)).reason).toBe('store_unavailable');
    await t.call('post', '/auth/logout', token).expect(204);
    expect(await log.lineOf(() => t.get('/private', token), 401)).toEqual({
      ...refused,
      reason: 'revoked_token',
      user_id: app.id,
    });
    t.clock.advance(1000);
    expect((await log.lineOf(() => t.get('/private', token), 401)).reason).toBe('expired_token');
  });

  it('an account`s life went on, or did not', async () => {
    const body = { name: 'Ada', password: 'long-enough-and-rare', password_confirmation: 'long-enough-and-rare' };
    const register = (as: string) => t.http.post('/auth/register').send({ ...body, email: as });
    expect((await log.lineOf(() => register(app.email), 422)).reason).toBe('identifier_taken');
    expect(await log.lineOf(() => register(`${randomUUID()}@example.com`), 201)).toMatchObject({
      event: 'auth.register.succeeded',
    });
    const reset = { token: 'x', email: app.email, password: body.password, password_confirmation: body.password };
    expect((await log.lineOf(() => t.http.post('/auth/reset-password').send(reset), 422)).reason).toBe('reset_failed');
    const own = await app.confirmed();
    const gone = () => t.call('delete', `/auth/sessions/${randomUUID()}`, own.token);
    expect((await log.lineOf(gone, 404)).reason).toBe('no_such_session');
    const change = { current_password: WRONG, password: body.password, password_confirmation: body.password };
    expect(await log.lineOf(() => app.call('post', '/auth/password', own).send(change), 422)).toMatchObject({
      event: 'auth.password_change.failed',
      reason: 'wrong_password',
      user_id: app.id,
    });
    const deleted = await log.during(() => app.call('delete', '/auth/account', own));
    expect(deleted).toEqual([{ event: 'auth.account.deleted', guard: 'api', user_id: app.id }]);
    expect(await log.lineOf(() => t.get('/private', own.token), 401)).toMatchObject({
      reason: 'revoked_token',
    });
  });

  it('a mailed link was no good, and when it was', async () => {
    await t.database.query('UPDATE members SET email_verified_at = NULL WHERE id = $1', [app.id]);
    const { accessToken: token } = await t.auth.startSession(app.id);
    await t.call('post', '/auth/email/verification-notification', token).expect(202);
    const url = linkIn(await app.mailbox.to(app.email)).href.replace(API_URL, '');
    expect((await log.lineOf(() => t.http.get(`${url}0`), 403)).reason).toBe('bad_link');
    await t.database.query("UPDATE members SET email = 'x' || email WHERE id = $1", [app.id]);
    expect((await log.lineOf(() => t.http.get(url), 403)).reason).toBe('outdated_link');
    await t.database.query('UPDATE members SET email = $2 WHERE id = $1', [app.id, app.email]);
    const lines = await log.during(() => t.http.get(url).set('Accept', 'application/json').expect(204));
    expect(lines).toEqual([{ event: 'auth.email.verified', guard: 'api', user_id: app.id }]);
  });

  it('a second factor was wrong, missing, or there already', async () => {
    const { secret, recoveryCodes, ...own } = await enrol(t, app.email);
    expect((await log.lineOf(() => app.call('post', '/auth/two-factor', own), 409)).reason).toBe('already_enrolled');
    expect((await log.lineOf(() => complete(t, { challenge_token: 'x', code: '1' }), 422)).reason).toBe(
      'bad_challenge',
    );
    const challenged = await log.during(() => t.login(app.email).expect(200));
    expect(challenged.at(-1)).toMatchObject({ event: 'auth.login.challenged', user_id: app.id });
    const challenge_token = await challenge(t, app.email);
    expect((await log.lineOf(() => complete(t, { challenge_token, code: '000000' }), 422)).reason).toBe('wrong_code');
    const used = await log.during(() => complete(t, { challenge_token, recovery_code: recoveryCodes[0] }).expect(200));
    expect(used.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['auth.recovery_code.used', 'auth.challenge.succeeded']),
    );
    const code = codeOf(t, secret);
    await complete(t, { challenge_token: await challenge(t, app.email), code }).expect(200);
    const off = await log.during(() => app.call('delete', '/auth/two-factor', own).expect(204));
    expect(off).toEqual([{ event: 'auth.two_factor.disabled', guard: 'api', user_id: app.id }]);
    expect((await log.lineOf(() => app.call('post', '/auth/two-factor/recovery-codes', own), 409)).reason).toBe(
      'not_enrolled',
    );
  });

  it('a passkey was refused', async () => {
    const passkeys = await PasskeyApp.start(log.options);
    const authenticator = new SoftAuthenticator(ORIGIN);
    const [ada, bob] = [await passkeys.confirmed(), await passkeys.confirmed('bob@example.com')];
    await passkeys.enrol(ada, authenticator);
    await passkeys.register(ada, { id: 'x' }).expect(422);
    await passkeys.login('x', { id: 'x' }).expect(422);
    await passkeys.call('patch', 'passkeys/x', ada).send({ name: 'x' }).expect(404);
    await passkeys
      .call('post', 'confirm-passkey', bob)
      .send(await passkeys.answer(authenticator))
      .expect(422);
    await passkeys.signIn(authenticator);
    await passkeys.t.database.query('DELETE FROM people WHERE id = 1');
    expect((await passkeys.attempt(authenticator)).status).toBe(401);
    await passkeys.stop();
  });

  it('and every reason of these was seen, without a secret', () => {
    expect(reasonsIn(log.lines)).toEqual(SEEN_BY.refusals);
  });
});
