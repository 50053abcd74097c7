import { EmailChangeRequested, EmailChanged, SessionEnded, UserProvider, Verified } from '@svc/auth';
import { hash } from 'node:crypto';
import { EmailChangeApp, NEW } from '../support/flows/email-change';
import { EMAIL_CHANGE, linkIn, member } from '../support/hosts/members';
import { ADA, confirmationTokenOf } from '../support/flows/step-up';
import { PASSWORD } from '../support/hosts/user-entities';

const NEXT = 'another horse entirely';
const FAILED = {
  message: 'This link to change the email address is not valid any more. Please ask for a new one.',
  errors: { token: ['This link to change the email address is not valid any more. Please ask for a new one.'] },
};

const sha256 = (text: string): string => hash('sha256', text, 'hex');

const app = EmailChangeApp.forFile();
const { t, mailbox } = app;

describe('POST /email/change', () => {
  it('answers 202, mails a link to the new address, and changes nothing', async () => {
    const requested = t.recorded(EmailChangeRequested);
    const { body, headers } = await app.request(' Ada@New.Example ').expect(202);
    expect(body).toEqual({ status: 'email-change-requested' });
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private', pragma: 'no-cache' });
    const mail = await app.mailTo(NEW);
    expect(mail.subject).toBe('Confirm your new email address for api.example.com');
    expect(mail.text).toContain(`${EMAIL_CHANGE.confirmUrl}?token=`);
    expect(linkIn(mail).searchParams.get('token')).toMatch(/^[0-9a-f]{64}$/);
    await app.settled();
    expect(mailbox.mails).toHaveLength(1);
    expect(await app.stored()).toEqual({ email: ADA, verified: true });
    expect(requested).toEqual([{ userId: app.id, guard: 'api' }]);
  });

  it('stores only hashes of the token and of the password, in one row for each user', async () => {
    await app.requested('first@new.example');
    const token = await app.requested();
    const [row, ...others] = await t.database.query('SELECT * FROM svc_email_changes');
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      guard: 'api',
      user_id: app.id,
      old_email: ADA,
      new_email: NEW,
      state: 'requested',
      confirm_hash: sha256(token),
      undo_hash: null,
      confirmed_at: null,
    });
    expect(row.password_fingerprint).toMatch(/^[0-9a-f]{64}$/);
  });

  it('needs a confirmation of the identity', async () => {
    await t.call('post', '/auth/email/change', app.token).send({ email: NEW }).expect(423);
    await app.request(NEW, app.token, await confirmationTokenOf(t, (await t.session()).access_token)).expect(423);
    await t.http.post('/auth/email/change').send({ email: NEW }).expect(401);
    expect(await app.states()).toEqual([]);
  });

  it('stores nothing for a session that ends meanwhile', async () => {
    const users = t.app.get<UserProvider>(UserProvider as never);
    const passwordHashOf = users.passwordHashOf.bind(users);
    let reads = 0;
    jest.spyOn(users, 'passwordHashOf').mockImplementation(async (id) => {
      // The first read is that of the confirmation.
      if (++reads === 2) await t.auth.revokeAll(app.id);
      return passwordHashOf(id);
    });
    await app.request().expect(401);
    expect(reads).toBe(2);
    expect(await app.states()).toEqual([]);
  });

  it('needs the ability svc.account in a pinned session', async () => {
    const { accessToken } = await t.auth.startSession(app.id, {}, ['orders.read']);
    await app.request(NEW, accessToken).expect(403);
  });

  it.each([
    ['nothing', ''],
    ['null', null],
    ['a number', 7],
    ['a list', [NEW]],
    ['an object', { not: '' }],
    ['no address', 'ada'],
    ['two addresses', `${NEW},eve@example.com`],
    ['a line break', `${NEW}\nBcc: eve@example.com`],
    ['a quoted local part', '"eve@evil.test x"@example.com'],
    ['an invisible character', 'ada\u3164@example.com'],
    ['NUL', 'ada\0@example.com'],
    ['half a surrogate pair', 'ada\ud800@example.com'],
    ['256 characters', `${'x'.repeat(244)}@example.com`],
  ])('answers 422 under email for %s', async (_, email) => {
    const { body } = await app.request(email).expect(422);
    expect(Object.keys(body.errors)).toEqual(['email']);
  });

  it('mails one address six times an hour for one client, whatever the number of accounts', async () => {
    const bob = await member(t, 'bob@example.com', { emailVerifiedAt: new Date() });
    for (let i = 0; i < 4; i++) await app.request().expect(202);
    const { accessToken } = await t.auth.startSession(bob);
    const proof = await confirmationTokenOf(t, accessToken);
    for (let i = 0; i < 4; i++) await app.request(NEW, accessToken, proof).expect(202);
    await app.mailTo(NEW, 6);
    await app.settled();
    expect(mailbox.mails).toHaveLength(6);
  });

  it('mails the owner of a taken address a notice without a link, and nothing for the own address', async () => {
    await member(t, NEW, { emailVerifiedAt: new Date() });
    await app.request(ADA).expect(202);
    await app.request().expect(202);
    const notice = await app.mailTo(NEW);
    expect(notice.subject).toBe('You already have an account at api.example.com');
    expect(notice.text).not.toContain('http');
    await app.settled();
    expect(mailbox.mails).toHaveLength(1);
  });
});

describe('an address in another spelling', () => {
  const [U_LABEL, A_LABEL] = ['ada@m\u00fcller.example', 'ada@xn--mller-kva.example'];

  it('gets the link at its canonical form, which is stored, and signs in in each', async () => {
    await app.request(` Ada@M\u00dcLLER.example `).expect(202);
    await app.confirm(await app.tokenTo(A_LABEL)).expect(200);
    expect(await app.stored()).toEqual({ email: A_LABEL, verified: true });
    for (const email of [U_LABEL, A_LABEL, 'ada@mu\u0308ller.example']) await t.login(email).expect(200);
  });

  it('is taken if another account has it, and is the own address if the user has it', async () => {
    await member(t, 'bob@example.com', { emailVerifiedAt: new Date() });
    await t.database.query('UPDATE members SET email = $1 WHERE email = $2', [U_LABEL, 'bob@example.com']);
    await app.request(A_LABEL).expect(202);
    const notice = await app.mailTo(U_LABEL);
    expect(notice.subject).toBe('You already have an account at api.example.com');
    await t.database.query('UPDATE members SET email = $1 WHERE id = $2', ['ada@fa\u00df.example', app.id]);
    await app.request('ada@xn--fa-hia.example').expect(202);
    await app.settled();
    expect(mailbox.mails).toHaveLength(1);
  });

  it('is held after a change in each spelling, and gets the link of the undo', async () => {
    await t.database.query('UPDATE members SET email = $1', [U_LABEL]);
    const undo = await app.changed(NEW, U_LABEL);
    const form = { name: 'Eve', email: A_LABEL, password: PASSWORD, password_confirmation: PASSWORD };
    await t.http.post('/auth/register').send(form).expect(422);
    await app.undo(undo).expect(200);
    await app.settled();
    expect((await app.mailTo(A_LABEL)).text).toContain('reset');
  });
});

describe('POST /email/change/confirm', () => {
  it('replaces and verifies the email, and the new one signs in', async () => {
    const [changed, verified] = [t.recorded(EmailChanged), t.recorded(Verified)];
    const { body, headers } = await app.confirm(await app.requested()).expect(200);
    expect(body).toEqual({ status: 'email-changed' });
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private', pragma: 'no-cache' });
    expect(await app.stored()).toEqual({ email: NEW, verified: true });
    expect(changed).toEqual([{ userId: app.id, guard: 'api', from: ADA, to: NEW }]);
    expect(verified).toEqual([]);
    await t.login(NEW).expect(200);
    await t.login(ADA).expect(422);
    expect(await app.states()).toEqual(['confirmed']);
  });

  it('verifies the email of a user whose former one was not verified', async () => {
    await t.database.query('UPDATE members SET email_verified_at = NULL');
    await app.confirm(await app.requested()).expect(200);
    expect(await app.stored()).toEqual({ email: NEW, verified: true });
  });

  it('mails the former address the masked new one, and a link that undoes the change', async () => {
    const token = await app.changed();
    const mail = await app.mailTo(ADA);
    expect(mail.subject).toBe('Your api.example.com email address was changed');
    for (const content of [mail.text, mail.html]) {
      expect(content).toContain('a…@new.example');
      expect(content).not.toContain(NEW);
    }
    expect(mail.text).toContain(`${EMAIL_CHANGE.undoUrl}?token=${token}`);
    expect(mail.text).toContain('The link is valid for 7 days.');
    const [row] = await t.database.query(
      `SELECT undo_hash, extract(epoch FROM expires_at - confirmed_at) / 86400 AS days FROM svc_email_changes`,
    );
    expect(row).toEqual({ undo_hash: sha256(token), days: expect.stringMatching(/^7\.0+$/) });
  });

  it('mails a former address that was never verified a notice without a link', async () => {
    await t.database.query('UPDATE members SET email_verified_at = NULL');
    await app.confirm(await app.requested()).expect(200);
    const { text, html } = await app.mailTo(ADA);
    expect(text).toContain('contact support');
    expect(text).not.toMatch(/http|valid for/);
    expect(html).not.toContain('href');
    expect(await t.database.query('SELECT undo_hash FROM svc_email_changes')).toEqual([{ undo_hash: null }]);
  });

  it('ends all sessions but the one that asked for the change', async () => {
    const other = await t.session();
    const token = await app.requested();
    const ended = t.recorded(SessionEnded);
    await app.confirm(token).expect(200);
    expect(ended).toEqual([expect.objectContaining({ userId: app.id, reason: 'email_change' })]);
    await t.get('/private', other.access_token).expect(401);
    await t.get('/private', app.token).expect(200);
  });

  it('ends the outstanding links of the former address', async () => {
    await t.database.query('UPDATE members SET email_verified_at = NULL');
    await t.call('post', '/auth/email/verification-notification', app.token).expect(202);
    const { pathname, search } = linkIn(await app.mailTo(ADA, 1));
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    const reset = await app.tokenTo(ADA, 2);
    await app.confirm(await app.requested()).expect(200);
    await t.http.get(pathname + search).expect(403);
    for (const email of [ADA, NEW]) {
      const body = { email, token: reset, password: NEXT, password_confirmation: NEXT };
      await t.http.post('/auth/reset-password').send(body).expect(422);
    }
    expect(await t.database.query('SELECT 1 FROM svc_password_resets')).toEqual([]);
  });

  it('succeeds again without a further effect', async () => {
    const token = await app.requested();
    await app.confirm(token).expect(200);
    const later = await t.session(NEW);
    const changed = t.recorded(EmailChanged);
    expect((await app.confirm(token).expect(200)).body).toEqual({ status: 'email-changed' });
    expect(changed).toEqual([]);
    await t.get('/private', later.access_token).expect(200);
    await app.settled();
    expect(mailbox.mails.filter(({ to }) => to === ADA)).toHaveLength(1);
  });

  it.each<[string, (token: string) => unknown]>([
    ['an unknown token', () => 'f'.repeat(64)],
    ['an undo token', () => app.changed('third@new.example')],
    ['a token with another case', (token) => token.toUpperCase()],
    ['a token with NUL', (token) => `${token}\0`],
    ['half a surrogate pair', () => '\ud800'],
  ])('answers 422 for %s', async (_, given) => {
    const token = await app.requested();
    const { body } = await app.confirm(await given(token)).expect(422);
    expect(body).toEqual(FAILED);
    expect(await app.stored()).not.toMatchObject({ email: NEW });
  });

  it.each([
    ['nothing', undefined],
    ['a number', 7],
    ['a list', ['x']],
    ['a long text', 'x'.repeat(256)],
  ])('answers 422 under token for %s', async (_, token) => {
    const { body } = await app.confirm(token).expect(422);
    expect(Object.keys(body.errors)).toEqual(['token']);
  });

  it('answers 422 after the deadline of the session that asked, whose row may be pruned then', async () => {
    await t.database.query(`UPDATE svc_sessions SET expires_at = now() + interval '1 minute'`);
    const token = await app.requested();
    t.clock.advance(61);
    await t.database.query('DELETE FROM svc_sessions');
    await app.confirm(token).expect(422);
    expect(await app.stored()).toEqual({ email: ADA, verified: true });
  });

  it('changes nothing by GET and HEAD, which programs that check mails send', async () => {
    const token = await app.requested();
    for (const method of ['get', 'head'] as const)
      await t.http[method](`/auth/email/change/confirm?token=${token}`).expect(404);
    expect(await app.stored()).toEqual({ email: ADA, verified: true });
  });

  const changeInSession = async (): Promise<unknown> =>
    t
      .call('post', '/auth/password', app.token)
      .send({ current_password: PASSWORD, password: NEXT, password_confirmation: NEXT })
      .expect(200);
  const changeElsewhere = async (): Promise<unknown> =>
    t
      .call('post', '/auth/password', (await t.session()).access_token)
      .send({ current_password: PASSWORD, password: NEXT, password_confirmation: NEXT })
      .expect(200);
  it.each<[string, () => PromiseLike<unknown>]>([
    ['after it has expired', async () => t.clock.advance(3600)],
    ['after a newer request', () => app.requested('third@new.example')],
    ['after a logout of its session', () => t.call('post', '/auth/logout', app.token).expect(204)],
    ['after the end of all sessions', () => t.auth.revokeAll(app.id)],
    ['after a change of the password in the same session', changeInSession],
    ['after a change of the password in another session', changeElsewhere],
    ['after the host has replaced the password', () => t.database.query("UPDATE members SET password_hash = 'x'")],
    ['after the host has changed the email', () => t.database.query("UPDATE members SET email = 'host@example.com'")],
    ['after the user was deleted', () => t.database.query('DELETE FROM members')],
  ])('is refused with the same answer %s', async (_, before) => {
    const token = await app.requested();
    await before();
    const stored = await app.stored();
    const changed = t.recorded(EmailChanged);
    expect((await app.confirm(token).expect(422)).body).toEqual(FAILED);
    expect(await app.stored()).toEqual(stored);
    expect(changed).toEqual([]);
  });

  it.each([
    ['a stranger', {}],
    ['a deleted user', { deletedAt: new Date() }],
  ])('says that %s has got the address meanwhile, and is valid when the address is free again', async (_, other) => {
    const token = await app.requested();
    const id = await member(t, NEW, other);
    const stored = await app.stored();
    const { body } = await app.confirm(token).expect(409);
    expect(body).toEqual({
      message: 'Meanwhile, another account has got this email address. The address of your account is unchanged.',
    });
    expect((await app.confirm('0'.repeat(64)).expect(422)).body).toEqual(FAILED);
    expect(await app.stored()).toEqual(stored);
    await t.database.query('DELETE FROM members WHERE id = $1', [id]);
    await app.confirm(token).expect(200);
    expect(await app.stored()).toEqual({ email: NEW, verified: true });
  });

  it('completes a change that a user store without transactions has made in a request that failed', async () => {
    const token = await app.requested();
    await t.database.query('UPDATE members SET email = $1, email_verified_at = NULL', [NEW]);
    await app.confirm(token).expect(200);
    expect(await app.stored()).toEqual({ email: NEW, verified: true });
    expect(await app.states()).toEqual(['confirmed']);
  });

  it.each([
    ['no link, if it was not verified', null, 0],
    ['the link, if it was verified', new Date(0), 1],
  ])('of a change that such a store has made mails the former address %s', async (_, verifiedAt, links) => {
    await t.database.query('UPDATE members SET email_verified_at = $1', [verifiedAt]);
    const token = await app.requested();
    await t.database.query('UPDATE members SET email = $1, email_verified_at = now()', [NEW]);
    await app.confirm(token).expect(200);
    const { text } = await app.mailTo(ADA);
    expect(text.match(/http/g) ?? []).toHaveLength(links);
  });

  it('is refused if its session ends while it is confirmed', async () => {
    const token = await app.requested();
    const users = t.app.get<Required<UserProvider>>(UserProvider as never);
    const changeEmail = users.changeEmail.bind(users);
    jest.spyOn(users, 'changeEmail').mockImplementationOnce(async (...args) => {
      await t.auth.revokeAll(app.id);
      return changeEmail(...args);
    });
    expect((await app.confirm(token).expect(422)).body).toEqual(FAILED);
    expect(await app.stored()).toEqual({ email: ADA, verified: true });
  });

  it('can be confirmed in the last second of its validity', async () => {
    const token = await app.requested();
    t.clock.advance(3590);
    await app.confirm(token).expect(200);
  });
});

describe('the account of a change of email', () => {
  it('exports its changes, and deletes them with the account', async () => {
    await app.changed();
    await app.requested('third@new.example');
    const own = () => t.get('/auth/account/export', app.token).set('X-Svc-Confirmation', app.proof);
    const { body } = await own().expect(200);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(body.email_changes).toEqual([
      { from: ADA, to: NEW, requested_at: time, confirmed_at: time, undone_at: null },
      { from: NEW, to: 'third@new.example', requested_at: time, confirmed_at: null, undone_at: null },
    ]);
    await t.call('delete', '/auth/account', app.token).set('X-Svc-Confirmation', app.proof).expect(204);
    expect(await app.states()).toEqual([]);
  });
});

describe('server calls of a change of email', () => {
  const client = { ip: '203.0.113.7' };

  it('do the same as the routes', async () => {
    const headers = { authorization: `Bearer ${app.token}` };
    const source = { ...client, headers, confirmationToken: app.proof };
    await t.auth.emailChange.request(NEW, source);
    await expect(t.auth.emailChange.confirm('x', client)).rejects.toMatchObject({ code: 'email_change_failed' });
    await t.auth.emailChange.confirm(await app.tokenTo(NEW), client);
    expect(await app.stored()).toEqual({ email: NEW, verified: true });
    await t.auth.emailChange.undo(await app.tokenTo(ADA), client);
    expect(await app.stored()).toEqual({ email: ADA, verified: true });
  });

  it('need a confirmation as the route does', async () => {
    const source = { ...client, headers: { authorization: `Bearer ${app.token}` } };
    await expect(t.auth.emailChange.request(NEW, source)).rejects.toMatchObject({ code: 'confirmation_required' });
    await expect(t.auth.emailChange.request(NEW, client)).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});
