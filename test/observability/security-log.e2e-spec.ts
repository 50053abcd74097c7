import { ForbiddenException } from '@nestjs/common';
import { PasswordHasher, type SecurityLine, SecurityStore, StoreUnavailable } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { TestApp, claimsOf } from '../support/hosts/app';
import { hasherBusy } from '../support/faults/hasher-busy';
import { eventually } from '../support/runtime/eventually';
import { mailedCode, requestCode, sendCode } from '../support/flows/email-code';
import { API_URL, linkIn, member } from '../support/hosts/members';
import { forge } from '../support/clients/forge';
import { ORIGIN, PasskeyApp } from '../support/flows/passkeys';
import { PASSWORD } from '../support/hosts/user-entities';
import { CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { ALL_REASONS, LoggingApp, SecurityLines, reasonsIn } from '../support/views/security-lines';
import { confirmEnrolment, enrolmentToken, startEnrolment } from '../support/flows/required-factor';
import { SoftAuthenticator } from '@svc/auth/testing';
import { KeyedOrders, createKey, forgedKey, keyOwner, postKey, serviceKey } from '../support/flows/access-keys';
import { refusedProofs } from '../support/flows/bound-sessions';
import { GRACE, IdentityHost, pageOf } from '../support/flows/identities';
import { refusedActions } from '../support/flows/operators';
import { startChallenge, codeOf, completeChallenge, enrol } from '../support/flows/two-factor';

const WRONG = 'wrong-horse-battery';

describe('the security log records that', () => {
  const log = new SecurityLines();
  const app = LoggingApp.forFile(log);
  const { t } = app;

  it('a login failed: the reason and the id of a known account, without the input', async () => {
    const base = { event: 'auth.login.failed', guard: 'api', ip: '127.0.0.1' };
    expect(await log.lineOf(() => t.login(app.email, WRONG), 422)).toEqual({
      ...base,
      reason: 'wrong_password',
      user_id: app.id,
    });
    expect(await log.lineOf(() => t.login('unknown@example.com', WRONG), 422)).toEqual({
      ...base,
      reason: 'unknown_user',
    });
    expect(await log.lineOf(() => t.http.post('/auth/login').send({ email: 1 }), 422)).toEqual({
      ...base,
      reason: 'validation_failed',
    });
    await t.login(app.email, WRONG).expect(422);
    await t.login(app.email, WRONG).expect(422);
    expect(await log.lineOf(() => t.login(app.email), 429)).toEqual({ ...base, reason: 'too_many_failures' });
  });

  it('a login failed for a locked account, an unverified user and a full hash queue', async () => {
    const reasonOf = async (status: number) => (await log.lineOf(() => t.login(app.email), status)).reason;
    await t.database.query('UPDATE members SET email_verified_at = NULL');
    const unverified = await log.during(() => t.login(app.email).expect(403));
    expect(unverified.at(-1)).toMatchObject({ event: 'auth.login.failed', reason: 'unverified_login' });
    await t.database.query('UPDATE members SET email_verified_at = now()');
    jest.spyOn(t.app.get(PasswordHasher), 'verify').mockRejectedValueOnce(hasherBusy());
    expect(await reasonOf(503)).toBe('hasher_busy');
    await t.login(app.email, WRONG).expect(422);
    await t.database.query('UPDATE svc_lockouts SET locked_at = now() WHERE subject = $1', [`id:${app.id}`]);
    expect(await reasonOf(423)).toBe('account_locked');
  });

  it('a success cleared failures of the lockout, if there were any', async () => {
    const ofAccount = (lines: SecurityLine[]) => lines.filter(({ event }) => event.startsWith('auth.account.'));
    const cleared = { event: 'auth.account.failures_cleared', guard: 'api', user_id: app.id, purpose: 'login' };
    expect(ofAccount(await log.during(() => t.login(app.email).expect(200)))).toEqual([]);
    await t.login(app.email, WRONG).expect(422);
    expect(ofAccount(await log.during(() => t.login(app.email).expect(200)))).toEqual([cleared]);
  });

  it('a login failed by an unexpected error or an exception of the host', async () => {
    const last = async (status: number) => (await log.during(() => t.login(app.email).expect(status))).at(-1)!.reason;
    app.hook = () => {
      throw new Error(`not logged: ${PASSWORD}`);
    };
    expect(await last(500)).toBe('unexpected');
    app.hook = () => {
      throw new ForbiddenException();
    };
    expect(await last(403)).toBe('other');
  });

  it('a login succeeded, with its session, and a refresh only if it failed', async () => {
    const lines = await log.during(() => app.session());
    const started = lines.find(({ event }) => event === 'auth.login.succeeded')!;
    expect(started).toEqual({
      event: 'auth.login.succeeded',
      guard: 'api',
      user_id: app.id,
      session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ip: '127.0.0.1',
    });
    const tokens = await app.session();
    const fid = String(claimsOf(tokens.access_token).fid);
    expect(await log.during(() => t.refresh(tokens.refresh_token).expect(200))).toEqual([]);
    t.clock.advance(31);
    const failed = { event: 'auth.refresh.failed', guard: 'api', ip: '127.0.0.1', user_id: app.id };
    expect(await log.during(() => t.refresh(tokens.refresh_token).expect(401))).toEqual([
      { event: 'auth.session.ended', guard: 'api', user_id: app.id, session_id: fid, purpose: 'reuse' },
      { event: 'auth.refresh_token.reused', guard: 'api', session_id: fid },
      { ...failed, reason: 'reused_token' },
    ]);
    expect(await log.lineOf(() => t.refresh(tokens.refresh_token), 401)).toEqual({
      ...failed,
      reason: 'revoked_token',
    });
    expect(await log.lineOf(() => t.refresh('f'.repeat(71)), 401)).toMatchObject({ reason: 'unknown_token' });
    expect(await log.lineOf(() => t.refresh(undefined), 401)).toMatchObject({ reason: 'missing_token' });
    const old = await app.session();
    t.clock.advance(3_000_000);
    expect(await log.during(() => t.refresh(old.refresh_token).expect(401))).toMatchObject([
      { event: 'auth.session.ended', purpose: 'expired' },
      { reason: 'expired_token' },
    ]);
    const idle = await t.auth.startSession(app.id, { idleTimeout: 1000 });
    t.clock.advance(1010);
    expect(await log.during(() => t.refresh(idle.refreshToken).expect(401))).toMatchObject([
      { event: 'auth.session.ended', purpose: 'idle' },
      { reason: 'idle_session', user_id: app.id },
    ]);
  });

  it('a session started and why it ended, without data of the client', async () => {
    const sessionLines = (lines: SecurityLine[]) => lines.filter(({ event }) => event.startsWith('auth.session.'));
    const started = sessionLines(await log.during(() => app.session()));
    const known = { guard: 'api', user_id: app.id, session_id: expect.stringMatching(/^[0-9a-f-]{36}$/) };
    expect(started).toEqual([{ event: 'auth.session.started', ...known, purpose: 'new' }]);
    const [{ access_token: first }, { access_token: second }] = [await app.session(), await app.session()];
    const ended = (purpose: string, token: string) => ({
      event: 'auth.session.ended',
      ...known,
      session_id: claimsOf(token).fid,
      purpose,
    });
    const others = sessionLines(await log.during(() => t.call('delete', '/auth/sessions/others', first).expect(204)));
    expect(others).toHaveLength(2);
    expect(others).toEqual(expect.arrayContaining([ended('others', second)]));
    expect(sessionLines(await log.during(() => t.call('post', '/auth/logout', first).expect(204)))).toEqual([
      ended('logout', first),
    ]);
    expect(sessionLines(await log.during(() => t.auth.revoke(String(claimsOf(first).fid))))).toEqual([]);
  });

  it('a login by hooks.authenticate failed, without a user', async () => {
    const own = await TestApp.start({ options: { ...log.options, hooks: { authenticate: async () => null } } });
    const line = await log.lineOf(() => own.login('ada@example.com'), 422);
    expect(line).toEqual({
      event: 'auth.login.failed',
      guard: 'api',
      ip: '127.0.0.1',
      reason: 'wrong_credentials',
    });
    await own.stop();
  });

  it('a guard refused a token, on routes of the library and of the host', async () => {
    const refused = { event: 'auth.guard.refused', guard: 'api', ip: '127.0.0.1' };
    const { access_token: token } = await app.session();
    expect(await log.lineOf(() => t.get('/private'), 401)).toEqual({ ...refused, reason: 'missing_token' });
    expect(await log.lineOf(() => t.get('/private', 'a.b.c'), 401)).toEqual({ ...refused, reason: 'invalid_token' });
    const used = await log.lineOf(() => t.get('/ticketed?ticket=used'), 401);
    expect(used).toEqual({ ...refused, reason: 'invalid_ticket' });
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
    const unverified = await t.auth.startSession(await member(t, 'eve@example.com'));
    expect((await log.lineOf(() => t.get('/verified', unverified.accessToken), 409)).reason).toBe('email_unverified');
    const old = await t.auth.startSession(app.id, { amr: ['pwd'], authTime: 0 });
    expect((await log.lineOf(() => t.get('/recent', old.accessToken), 401)).reason).toBe('recent_login_required');
    await t.get('/seldom', token).expect(200);
    expect((await log.lineOf(() => t.get('/seldom', token), 429)).reason).toBe('too_many_requests');
    // Not only once: the monitor of the denylist reads the store, too.
    const outage = jest.spyOn(t.app.get(SecurityStore), 'getMany').mockRejectedValue(new StoreUnavailable('Redis'));
    expect((await log.lineOf(() => t.get('/private', token), 503)).reason).toBe('store_unavailable');
    outage.mockRestore();
    await t.call('post', '/auth/logout', token).expect(204);
    expect(await log.lineOf(() => t.get('/private', token), 401)).toEqual({
      ...refused,
      reason: 'revoked_token',
      user_id: app.id,
    });
    t.clock.advance(1000);
    expect((await log.lineOf(() => t.get('/private', token), 401)).reason).toBe('expired_token');
  });

  it('an account was registered, changed or deleted, or why this failed', async () => {
    const body = { name: 'Ada', password: 'long-enough-and-rare', password_confirmation: 'long-enough-and-rare' };
    const register = (as: string) => t.http.post('/auth/register').send({ ...body, email: as });
    expect((await log.lineOf(() => register(app.email), 422)).reason).toBe('identifier_taken');
    expect(await log.lineOf(() => register(`${randomUUID()}@example.com`), 201)).toMatchObject({
      event: 'auth.register.succeeded',
    });
    const reset = { token: 'x', email: app.email, password: body.password, password_confirmation: body.password };
    expect((await log.lineOf(() => t.http.post('/auth/reset-password').send(reset), 422)).reason).toBe('reset_failed');
    const report = () => t.http.post('/auth/sessions/report').send({ token: 'x' });
    expect((await log.lineOf(report, 422)).reason).toBe('report_failed');
    const own = await app.confirmed();
    const endUnknown = () => t.call('delete', `/auth/sessions/${randomUUID()}`, own.token);
    expect((await log.lineOf(endUnknown, 404)).reason).toBe('no_such_session');
    const change = { current_password: WRONG, password: body.password, password_confirmation: body.password };
    expect(await log.lineOf(() => app.call('post', '/auth/password', own).send(change), 422)).toMatchObject({
      event: 'auth.password_change.failed',
      reason: 'wrong_password',
      user_id: app.id,
    });
    const deleted = await log.during(() => app.call('delete', '/auth/account', own));
    expect(deleted).toEqual([
      {
        event: 'auth.session.ended',
        guard: 'api',
        user_id: app.id,
        session_id: claimsOf(own.token).fid,
        purpose: 'erased',
      },
      { event: 'auth.account.deleted', guard: 'api', user_id: app.id },
    ]);
    expect(await log.lineOf(() => t.get('/private', own.token), 401)).toMatchObject({
      reason: 'revoked_token',
    });
  });

  it('an account was not deleted while two others were', async () => {
    const own = await app.confirmed();
    const others: Promise<number>[] = [];
    const lock = t.database.createQueryRunner();
    await lock.startTransaction();
    for (const email of ['bob@example.com', 'eve@example.com']) {
      await member(t, email, { emailVerifiedAt: new Date() });
      const { access_token: token } = await t.session(email);
      const other = { token, proof: await confirmationTokenOf(t, token) };
      await lock.query('SELECT 1 FROM members WHERE email = $1 FOR UPDATE', [email]);
      others.push(app.call('delete', '/auth/account', other).then(({ status }) => status));
    }
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await eventually(async () => (await t.database.query(waiting)).length === 2);
    expect(await log.lineOf(() => app.call('delete', '/auth/account', own), 503)).toMatchObject({
      event: 'auth.account_delete.failed',
      reason: 'deletion_busy',
      user_id: app.id,
    });
    await lock.rollbackTransaction();
    await lock.release();
    expect(await Promise.all(others)).toEqual([204, 204]);
  });

  it('a mailed link was invalid, outdated or accepted', async () => {
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

  it('an email was changed, or its change was undone or failed, without the addresses', async () => {
    const own = await app.confirmed();
    const request = () => app.call('post', '/auth/email/change', own).send({ email: 'ada@new.example' });
    expect(await log.lineOf(request, 202)).toMatchObject({
      event: 'auth.email_change_request.succeeded',
      user_id: app.id,
    });
    const post = (link: string, token: string | null) => t.http.post(`/auth/email/change/${link}`).send({ token });
    expect(await log.lineOf(() => post('confirm', 'x'), 422)).toMatchObject({
      event: 'auth.email_change_confirm.failed',
      reason: 'email_change_failed',
    });
    const confirm = linkIn(await app.mailbox.to('ada@new.example')).searchParams.get('token');
    const stranger = await member(t, 'ada@new.example');
    expect((await log.lineOf(() => post('confirm', confirm), 409)).reason).toBe('new_email_taken');
    await t.database.query('DELETE FROM members WHERE id = $1', [stranger]);
    expect(await log.during(() => post('confirm', confirm).expect(200))).toEqual([
      { event: 'auth.email.changed', guard: 'api', user_id: app.id },
    ]);
    const undo = linkIn(await app.mailbox.to(app.email)).searchParams.get('token');
    const other = await member(t, app.email);
    expect((await log.lineOf(() => post('undo', undo), 409)).reason).toBe('former_email_taken');
    await t.database.query('DELETE FROM members WHERE id = $1', [other]);
    expect(await log.during(() => post('undo', undo).expect(200))).toEqual([
      expect.objectContaining({ event: 'auth.session.ended', purpose: 'email_undo' }),
      { event: 'auth.email.change_undone', guard: 'api', user_id: app.id },
    ]);
  });

  it('a second factor was wrong, missing or already enrolled', async () => {
    const { secret, recoveryCodes, ...own } = await enrol(t, app.email);
    expect((await log.lineOf(() => app.call('post', '/auth/two-factor', own), 409)).reason).toBe('already_enrolled');
    expect((await log.lineOf(() => completeChallenge(t, { challenge_token: 'x', code: '1' }), 422)).reason).toBe(
      'bad_challenge',
    );
    const challenged = await log.during(() => t.login(app.email).expect(200));
    expect(challenged.at(-1)).toMatchObject({ event: 'auth.login.challenged', user_id: app.id });
    const challenge_token = await startChallenge(t, app.email);
    expect((await log.lineOf(() => completeChallenge(t, { challenge_token, code: '000000' }), 422)).reason).toBe(
      'wrong_code',
    );
    const used = await log.during(() =>
      completeChallenge(t, { challenge_token, recovery_code: recoveryCodes[0] }).expect(200),
    );
    expect(used.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['auth.recovery_code.used', 'auth.challenge.succeeded']),
    );
    const code = codeOf(t, secret);
    await completeChallenge(t, { challenge_token: await startChallenge(t, app.email), code }).expect(200);
    const next = await startChallenge(t, app.email);
    expect((await log.lineOf(() => completeChallenge(t, { challenge_token: next, code }), 422)).reason).toBe(
      'used_code',
    );
    const off = await log.during(() => app.call('delete', '/auth/two-factor', own).expect(204));
    expect(off).toEqual([{ event: 'auth.two_factor.disabled', guard: 'api', user_id: app.id }]);
    expect((await log.lineOf(() => app.call('post', '/auth/two-factor/recovery-codes', own), 409)).reason).toBe(
      'not_enrolled',
    );
  });

  it('a mailed code was requested, wrong or used', async () => {
    const [requested] = await log.during(() => requestCode(t, app.email).expect(202));
    expect(requested).toEqual({ event: 'auth.email_code_send.succeeded', guard: 'api', ip: '127.0.0.1' });
    await app.mailbox.nth(1);
    const mailed = await mailedCode(t, app.mailbox, app.email);
    expect(await log.lineOf(() => sendCode(t, { ...mailed, code: 'x' }), 422)).toMatchObject({
      event: 'auth.email_code_login.failed',
      reason: 'wrong_email_code',
      user_id: app.id,
    });
    const used = await log.during(() => sendCode(t, mailed).expect(200));
    expect(used.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['auth.session.started', 'auth.email_code_login.succeeded']),
    );
    expect(used.at(-1)).toMatchObject({ user_id: app.id, session_id: expect.any(String) });
  });

  it('a user must have a second factor, enrolled one, and could not remove it', async () => {
    const own = await app.confirmed();
    expect(await log.lineOf(() => t.get('/with-factor', own.token), 401)).toMatchObject({
      event: 'auth.guard.refused',
      reason: 'factor_required',
      user_id: app.id,
    });
    app.mustHaveFactor = true;
    const challenged = await log.during(() => t.login(app.email).expect(200));
    expect(challenged.at(-1)).toMatchObject({ event: 'auth.login.challenged', user_id: app.id });
    const enrolment_token = await enrolmentToken(t, app.email);
    const secret = await startEnrolment(t, enrolment_token);
    const enrolled = await log.during(() => confirmEnrolment(t, enrolment_token, secret).expect(200));
    expect(enrolled.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['auth.two_factor.enabled', 'auth.enrolment_confirm.succeeded']),
    );
    expect((await log.lineOf(() => confirmEnrolment(t, enrolment_token, secret), 422)).reason).toBe('bad_enrolment');
    expect((await log.lineOf(() => app.call('delete', '/auth/two-factor', own), 409)).reason).toBe(
      'second_factor_required',
    );
    app.mustHaveFactor = false;
  });

  it('a passkey was refused', async () => {
    const passkeys = await PasskeyApp.start({ ...log.options, passkeys: { keepLast: true } });
    const authenticator = new SoftAuthenticator(ORIGIN);
    const [ada, bob] = [await passkeys.confirmed(), await passkeys.confirmed('bob@example.com')];
    const id = await passkeys.enrol(ada, authenticator);
    await passkeys.register(ada, { id: 'x' }).expect(422);
    await passkeys.login('x', { id: 'x' }).expect(422);
    await passkeys.call('patch', 'passkeys/x', ada).send({ name: 'x' }).expect(404);
    await passkeys
      .call('post', 'confirm-passkey', bob)
      .send(await passkeys.answer(authenticator))
      .expect(422);
    await passkeys.t.database.query('UPDATE people SET password_hash = NULL WHERE id = 1');
    const session = await passkeys.signIn(authenticator);
    const answer = await passkeys.answer(authenticator);
    const { body } = await passkeys.call('post', 'confirm-passkey', { ...session, proof: '' }).send(answer);
    await passkeys.call('delete', `passkeys/${id}`, { ...session, proof: body.confirmation_token }).expect(409);
    await passkeys.t.database.query('DELETE FROM people WHERE id = 1');
    expect((await passkeys.attempt(authenticator)).status).toBe(401);
    await passkeys.t.database.query('DELETE FROM svc_passkeys');
    expect((await passkeys.attempt(authenticator)).status).toBe(422);
    await passkeys.stop();
  });

  it('a sign-in with a provider, and what the account links, was refused', async () => {
    const host = await IdentityHost.start({ ...log.options, keyPrefix: `${randomUUID()}:` });
    const own = host.t;
    const post = (path: string, body: object, token = '', proof = '') =>
      own.http
        .post(`/auth/${path}`)
        .set({ Authorization: `Bearer ${token}`, [CONFIRMATION_HEADER]: proof })
        .send(body);
    const begun = async (path: string, body: object, token: string, proof = ''): Promise<[string, string]> => {
      const { attempt_token: attempt, authorization_url: url } = (await post(path, body, token, proof).expect(200))
        .body;
      return [attempt, await host.signedIn(url, GRACE)];
    };
    const link = async (token: string, proof: string) => {
      const [attempt_token, parameters] = await begun('identities/acme/link', {}, token, proof);
      return post('identities/acme/link/callback', { parameters, attempt_token, redirect_uri: pageOf('acme') }, token);
    };
    await host.send('code=x', 'x', 'unknown').expect(404);
    for (const attempt of ['', 'x']) await host.send('code=x', attempt).expect(422);
    const denied = await host.begin();
    await host.send(new URL(denied.authorization_url).search, denied.attempt_token).expect(422);
    await post('identities/register', {}).expect(422);
    await post('identities/acme/logout', { logout_token: 'x' }).expect(400);
    host.other.answer('discovery', (_, response) => response.writeHead(503).end());
    await post('identities/other', {}).expect(503);
    await member(own, 'grace@example.com');
    expect((await host.signIn()).status).toBe(409);
    const solo = (await host.signIn({ ...GRACE, sub: 'solo', email: 'solo@example.com' })).body.access_token;
    const { access_token: first } = await own.session('grace@example.com');
    await member(own, 'bob@example.com');
    const { access_token: second } = await own.session('bob@example.com');
    expect((await link(first, await confirmationTokenOf(own, first))).status).toBe(200);
    const proof = await confirmationTokenOf(own, second);
    expect((await link(second, proof)).status).toBe(409);
    const remove = (id: string, token: string, confirmed: string) =>
      own.call('delete', `/auth/identities/${id}`, token).set(CONFIRMATION_HEADER, confirmed);
    await remove(randomUUID(), second, proof).expect(404);
    const { identities } = (await own.get('/auth/identities', solo).expect(200)).body;
    const { attempt_token, authorization_url: url } = (
      await post('confirm-identity', { provider: 'acme' }, solo).expect(200)
    ).body;
    const parameters = await host.signedIn(url, { ...GRACE, sub: 'solo', email: 'solo@example.com' });
    const answer = { provider: 'acme', parameters, attempt_token, redirect_uri: pageOf('acme') };
    const { confirmation_token } = (await post('confirm-identity/callback', answer, solo).expect(200)).body;
    await remove(identities[0].id, solo, confirmation_token).expect(409);
    await host.stop();
  });

  it('an access key, or a report about leaked ones, was refused', async () => {
    let granted = true;
    const own = await TestApp.start({
      controllers: [KeyedOrders],
      rawBody: true,
      options: {
        ...log.options,
        features: { accessKeys: true, accessKeyScanning: true },
        accessKeys: { maxPerUser: 1, scannerKeys: {} },
        hooks: { canSignIn: () => granted },
      },
    });
    await own.person('ada@example.com');
    const owner = await keyOwner(own, 'ada@example.com');
    const { id, access_key: text } = await createKey(own, owner);
    await postKey(own, owner).expect(409);
    const use = (key: string) => own.get('/orders', key).expect(401);
    await use('svc_typo');
    await use(forgedKey());
    await use(forgedKey(id));
    granted = false;
    await use(text);
    granted = true;
    await use((await serviceKey(own, { networks: ['192.0.2.0/24'] })).access_key);
    const short = await serviceKey(own, { expiresInDays: 1 });
    own.clock.advance(86_401);
    await use(short.access_key);
    await own.auth.accessKeys.revokeAny(id);
    await use(text);
    await own.http
      .post('/auth/access-keys/leaked')
      .send([{ token: text }])
      .expect(401);
    await own.stop();
  });

  it('the proof of a key was refused, or missing', () => refusedProofs(log.options));

  it('an action of an operator was refused, or a request of an operator who acts as a user', () =>
    refusedActions(log.options));

  it('a logout had no session to end', async () => {
    const token = forge({ claims: { sub: app.id }, without: ['fid', 'jti'] });
    const line = await log.lineOf(() => t.call('post', '/auth/logout', token), 409);
    expect(line).toMatchObject({ event: 'auth.logout.failed', reason: 'no_session' });
  });

  it('a user may not sign in', async () => {
    app.mayNotSignIn = true;
    const lines = await log.during(() => t.login(app.email).expect(401));
    app.mayNotSignIn = false;
    expect(lines.at(-1)).toMatchObject({ event: 'auth.login.failed', reason: 'sign_in_refused', user_id: app.id });
  });

  it('a request was refused: the tests above produced every reason, and no secret', () => {
    expect(reasonsIn(log.lines)).toEqual(ALL_REASONS);
  });
});
