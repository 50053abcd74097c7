import {
  EmailChangeUndone,
  PasskeyRemoved,
  PasswordHasher,
  PasswordReset,
  Pruning,
  SessionEnded,
  TwoFactorDisabled,
} from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { EmailChangeApp, NEW } from '../support/flows/email-change';
import { linkIn, member } from '../support/hosts/members';
import { ORIGIN, PASSKEYS, PasskeyApp } from '../support/flows/passkeys';
import { ADA } from '../support/flows/step-up';
import { codeOf, enrol } from '../support/flows/two-factor';
import { PASSWORD } from '../support/hosts/user-entities';

const NEXT = 'another horse entirely';
const THIRD = 'ada@third.example';
const FAILED = 'This link to change the email address is not valid any more. Please ask for a new one.';

const app = EmailChangeApp.forFile({
  features: { ...PASSKEYS.features, twoFactor: true },
  passkeys: PASSKEYS.passkeys,
  storeTimeoutMs: 20_000,
});
const { t, mailbox } = app;
const passkeys = new PasskeyApp(t);

describe('POST /email/change/undo', () => {
  it('restores the former email, and ends all access', async () => {
    const undone = t.recorded(EmailChangeUndone);
    const token = await app.changed();
    const later = await t.session(NEW);
    const ended = t.recorded(SessionEnded);
    const { body, headers } = await app.undo(token).expect(200);
    expect(body).toEqual({ status: 'email-change-undone' });
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private', pragma: 'no-cache' });
    expect(await app.stored()).toEqual({ email: ADA, verified: true });
    expect(undone).toEqual([{ userId: app.id, guard: 'api', from: NEW, to: ADA }]);
    expect(ended.map(({ reason }) => reason)).toEqual(['email_undo', 'email_undo']);
    for (const session of [app.token, later.access_token]) await t.get('/private', session).expect(401);
    // The thief knows the password.
    await t.login(ADA, PASSWORD).expect(422);
    await t.login(NEW, PASSWORD).expect(422);
    expect(await app.states()).toEqual(['undone']);
  });

  it('mails a reset link to the former address, with which the owner signs in', async () => {
    const changed = t.recorded(PasswordReset);
    await app.undo(await app.changed()).expect(200);
    expect((await app.mailTo(ADA, 2)).subject).toBe('Reset your api.example.com password');
    expect((await app.reset(2, NEXT)).status).toBe(200);
    expect(changed).toHaveLength(1);
    await t.login(ADA, NEXT).expect(200);
  });

  it('ends the reset links that were mailed to the new address', async () => {
    const token = await app.changed();
    await t.http.post('/auth/forgot-password').send({ email: NEW }).expect(200);
    const link = linkIn(await app.mailTo(NEW, 2)).searchParams.get('token');
    await app.undo(token).expect(200);
    for (const email of [ADA, NEW]) {
      const body = { email, token: link, password: NEXT, password_confirmation: NEXT };
      await t.http.post('/auth/reset-password').send(body).expect(422);
    }
  });

  it('ends the login challenges of the thief', async () => {
    const { secret } = await enrol(t);
    t.clock.advance(30);
    const token = await app.changed();
    const { body } = await t.login(NEW).expect(200);
    await app.undo(token).expect(200);
    const answer = { challenge_token: body.challenge_token, code: codeOf(t, secret) };
    await t.http.post('/auth/two-factor-challenge').send(answer).expect(422);
  });

  it('gives a user without a password none', async () => {
    const token = await app.changed();
    await t.database.query('UPDATE members SET password_hash = NULL');
    await app.undo(token).expect(200);
    expect(await t.database.query('SELECT password_hash FROM members')).toEqual([{ password_hash: null }]);
  });

  it('removes the passkeys and the second factor that were added since the request, and no others', async () => {
    const removed = t.recorded(PasskeyRemoved);
    const disabled = t.recorded(TwoFactorDisabled);
    const owned = await passkeys.enrol(await passkeys.confirmed(), new SoftAuthenticator(ORIGIN));
    t.clock.advance(1);
    const token = await app.changed();
    const added = await passkeys.enrol(await passkeys.confirmed(NEW), new SoftAuthenticator(ORIGIN));
    await enrol(t, NEW);
    await app.undo(token).expect(200);
    expect(removed.map(({ credentialId }) => credentialId)).toEqual([added]);
    expect((await passkeys.rows()).map(({ credential_id }) => credential_id)).toEqual([owned]);
    expect(disabled).toEqual([{ userId: app.id, guard: 'api' }]);
  });

  it('removes what was added since the first of several requests', async () => {
    await app.requested();
    t.clock.advance(1);
    const removed = t.recorded(PasskeyRemoved);
    const added = await passkeys.enrol(await passkeys.confirmed(), new SoftAuthenticator(ORIGIN));
    t.clock.advance(1);
    await app.undo(await app.changed(THIRD)).expect(200);
    expect(removed.map(({ credentialId }) => credentialId)).toEqual([added]);
  });

  it('keeps a second factor and a passkey from before the request, which still sign in after the change', async () => {
    const authenticator = new SoftAuthenticator(ORIGIN);
    await passkeys.enrol(await passkeys.confirmed(), authenticator);
    await enrol(t);
    t.clock.advance(30);
    const token = await app.changed();
    await passkeys.signIn(authenticator);
    const disabled = t.recorded(TwoFactorDisabled);
    await app.undo(token).expect(200);
    await passkeys.signIn(authenticator);
    expect(disabled).toEqual([]);
  });

  it('succeeds again without a further effect', async () => {
    const token = await app.changed();
    await app.undo(token).expect(200);
    expect((await app.reset(2, NEXT)).status).toBe(200);
    const later = (await t.login(ADA, NEXT).expect(200)).body;
    const undone = t.recorded(EmailChangeUndone);
    expect((await app.undo(token).expect(200)).body).toEqual({ status: 'email-change-undone' });
    expect(undone).toEqual([]);
    await t.get('/private', later.access_token).expect(200);
    await t.login(ADA, NEXT).expect(200);
  });

  it.each<[string, (token: string) => unknown]>([
    ['an unknown token', () => 'f'.repeat(64)],
    ['the token of the new address', () => app.tokenTo(NEW)],
    ['a token with NUL', (token) => `${token}\0`],
    ['a token in capitals', (token) => token.toUpperCase()],
  ])('answers 422 for %s, and hashes nothing', async (_, given) => {
    const token = await given(await app.changed());
    const hashed = jest.spyOn(t.app.get(PasswordHasher), 'hash');
    const { body } = await app.undo(token).expect(422);
    expect(body).toEqual({ message: FAILED, errors: { token: [FAILED] } });
    expect(hashed).not.toHaveBeenCalled();
    expect(await app.stored()).toEqual({ email: NEW, verified: true });
  });

  it.each([
    ['nothing', undefined],
    ['a number', 7],
    ['a list', ['x']],
    ['an object', {}],
  ])('answers 422 under token for %s', async (_, token) => {
    const { body } = await app.undo(token).expect(422);
    expect(Object.keys(body.errors)).toEqual(['token']);
  });

  it('is possible for seven days', async () => {
    const token = await app.changed();
    t.clock.advance(7 * 86_400 - 60);
    await app.undo(token).expect(200);
  });

  it('is not possible after seven days', async () => {
    const token = await app.changed();
    t.clock.advance(7 * 86_400);
    await app.undo(token).expect(422);
    expect(await app.stored()).toEqual({ email: NEW, verified: true });
  });

  it('answers 409 while another account has the former address, and changes nothing', async () => {
    const token = await app.changed();
    const other = await member(t, ADA);
    const { body } = await app.undo(token).expect(409);
    expect(body).toEqual({ message: 'Another account has this email address now. Please contact support.' });
    expect(await app.stored()).toEqual({ email: NEW, verified: true });
    await t.get('/private', app.token).expect(200);
    await t.database.query('DELETE FROM members WHERE id = $1', [other]);
    await app.undo(token).expect(200);
  });

  it('is refused after the user was deleted', async () => {
    const token = await app.changed();
    await t.database.query('DELETE FROM members');
    await app.undo(token).expect(422);
  });
});

describe('several changes of email', () => {
  it('can be undone by the link of the first one, which ends the later ones and the outstanding request', async () => {
    const first = await app.changed();
    await app.signIn(NEW);
    const second = await app.changed(THIRD, NEW);
    const pending = await app.requested('fourth@new.example');
    await app.undo(first).expect(200);
    expect(await app.stored()).toEqual({ email: ADA, verified: true });
    expect(await app.states()).toEqual(['undone', 'superseded', 'superseded']);
    await app.undo(second).expect(422);
    await app.confirm(pending).expect(422);
    expect(await app.stored()).toEqual({ email: ADA, verified: true });
  });

  it('can be undone one after the other, the last one first', async () => {
    const first = await app.changed();
    const second = await app.changed(THIRD, NEW);
    await app.undo(second).expect(200);
    expect(await app.stored()).toEqual({ email: NEW, verified: true });
    await app.undo(first).expect(200);
    expect(await app.stored()).toEqual({ email: ADA, verified: true });
    expect(await app.states()).toEqual(['undone', 'undone']);
  });

  it('leave the link of the first one valid, whatever the thief does', async () => {
    const first = await app.changed();
    // The thief changes the email to and fro, asks for further changes and undoes one of them.
    await app.undo(await app.changed(THIRD, NEW)).expect(200);
    const { text } = await app.mailTo(NEW, 3);
    const token = /token=([0-9a-f]{64})/.exec(text)![1];
    const body = { email: NEW, token, password: PASSWORD, password_confirmation: PASSWORD };
    await t.http.post('/auth/reset-password').send(body).expect(200);
    await app.signIn(NEW);
    await app.request(ADA).expect(202);
    await app.undo(first).expect(200);
    expect(await app.stored()).toEqual({ email: ADA, verified: true });
  });

  it('back to the first address can be undone, too', async () => {
    const first = await app.changed();
    await app.changed(ADA, NEW);
    expect(await app.stored()).toEqual({ email: ADA, verified: true });
    await app.undo(first).expect(200);
    expect(await app.stored()).toEqual({ email: ADA, verified: true });
    expect(await app.living()).toEqual([]);
  });
});

describe('a former address', () => {
  const form = (email: string) => ({ name: 'Eve', email, password: PASSWORD, password_confirmation: PASSWORD });

  it('cannot be registered while the change can be undone', async () => {
    const token = await app.changed();
    const { body } = await t.http.post('/auth/register').send(form(' ADA@example.com ')).expect(422);
    expect(body.errors).toEqual({ email: ['This email is taken.'] });
    await app.undo(token).expect(200);
  });

  it('that was not verified can be registered at once: it may be that of another person', async () => {
    await t.database.query('UPDATE members SET email_verified_at = NULL');
    await app.confirm(await app.requested()).expect(200);
    await t.http.post('/auth/register').send(form(ADA)).expect(200);
  });

  it('can be registered after the time of the undo', async () => {
    await app.changed();
    t.clock.advance(7 * 86_400);
    await t.http.post('/auth/register').send(form(ADA)).expect(200);
  });

  it('can be taken by a change of email of another account, which proves access to its mailbox', async () => {
    const token = await app.changed();
    const bob = await member(t, 'bob@example.com', { emailVerifiedAt: new Date() });
    await app.signIn('bob@example.com');
    const before = mailbox.mails.filter(({ to }) => to === ADA).length;
    await app.request(ADA).expect(202);
    await app.confirm(await app.tokenTo(ADA, before + 1)).expect(200);
    expect(await app.stored(bob)).toEqual({ email: ADA, verified: true });
    await app.undo(token).expect(409);
  });
});

describe('the pruning', () => {
  it('deletes changes whose links have expired', async () => {
    await app.changed();
    await app.requested(THIRD);
    const prune = async () => (await t.app.get(Pruning).run()).emailChanges;
    expect(await prune()).toBe(0);
    t.clock.advance(3600);
    expect(await prune()).toBe(1);
    expect(await app.states()).toEqual(['confirmed']);
    t.clock.advance(7 * 86_400);
    expect(await prune()).toBe(1);
    expect(await app.states()).toEqual([]);
  });
});
