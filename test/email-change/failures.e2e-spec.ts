import { PasswordHasher, SecurityStore, StoreUnavailable, UserProvider } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { EmailChangeApp, NEW } from '../support/flows/email-change';
import { eventually } from '../support/runtime/eventually';
import { whileStatementsFail } from '../support/faults/failing-statements';
import { ORIGIN, PASSKEYS, PasskeyApp } from '../support/flows/passkeys';
import { ADA, CONFIRMATION_HEADER } from '../support/flows/step-up';

const NEXT = 'another horse entirely';

const app = EmailChangeApp.forFile({
  features: { ...PASSKEYS.features, twoFactor: true },
  passkeys: PASSKEYS.passkeys,
  storeTimeoutMs: 20_000,
});
const { t, mailbox } = app;
const passkeys = new PasskeyApp(t);

describe('after a failure of a store', () => {
  it('a confirmation can be repeated, and ends the other sessions then', async () => {
    const other = await t.session();
    const token = await app.requested();
    await whileStatementsFail(t, 'UPDATE ON svc_sessions', async () => {
      expect((await app.confirm(token)).status).toBeGreaterThanOrEqual(500);
    });
    expect(await app.states()).toEqual(['changed']);
    await app.confirm(token).expect(200);
    expect(await app.states()).toEqual(['confirmed']);
    await t.get('/private', other.access_token).expect(401);
    await app.settled();
    expect(mailbox.mails.filter(({ to }) => to === ADA)).toHaveLength(1);
  });

  it('the mail to the former address is sent again if it was lost with its process, with the same link', async () => {
    const token = await app.requested();
    await app.confirm(token).expect(200);
    const undo = await app.tokenTo(ADA);
    await app.settled();
    mailbox.clear();
    // As after the end of the process behind the commit.
    await t.database.query("UPDATE svc_email_changes SET state = 'changed'");
    await t.app.get(SecurityStore).take(`svc:mail:api:emailChanged:${await app.changeId()}`);
    await app.confirm(token).expect(200);
    expect(await app.tokenTo(ADA)).toBe(undo);
    await app.undo(undo).expect(200);
  });

  it('an undo can be repeated, and ends the access then', async () => {
    const token = await app.changed();
    await whileStatementsFail(t, 'UPDATE ON svc_sessions', async () => {
      expect((await app.undo(token)).status).toBeGreaterThanOrEqual(500);
    });
    expect(await app.states()).toEqual(['restored']);
    await app.undo(token).expect(200);
    expect(await app.states()).toEqual(['undone']);
    expect(await app.living()).toEqual([]);
    expect((await app.reset(2, NEXT)).status).toBe(200);
  });

  it('the reset link is mailed by the repeated request if it was not mailed before', async () => {
    const token = await app.changed();
    jest.spyOn(t.app.get(UserProvider), 'findByEmails').mockRejectedValueOnce(new StoreUnavailable('PostgreSQL'));
    await app.undo(token).expect(503);
    expect(await app.states()).toEqual(['restored']);
    await app.undo(token).expect(200);
    expect((await app.reset(2, NEXT)).status).toBe(200);
  });

  it('a repeated undo that is late does not replace the password that the owner has chosen', async () => {
    const token = await app.changed();
    await whileStatementsFail(t, 'UPDATE ON svc_sessions', async () => {
      expect((await app.undo(token)).status).toBeGreaterThanOrEqual(500);
    });
    const users = t.app.get(UserProvider);
    const passwordHashOf = users.passwordHashOf.bind(users);
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    const spy = jest.spyOn(users, 'passwordHashOf').mockImplementationOnce(async (id) => {
      await held;
      return passwordHashOf(id);
    });
    const late = app.undo(token).then(({ status }) => status);
    await eventually(async () => spy.mock.calls.length === 1);
    await app.undo(token).expect(200);
    expect((await app.reset(2, NEXT)).status).toBe(200);
    const { access_token } = (await t.login(ADA, NEXT).expect(200)).body;
    release();
    expect(await late).toBe(200);
    spy.mockRestore();
    await t.get('/private', access_token).expect(200);
    await t.login(ADA, NEXT).expect(200);
  });

  it('nothing is changed if the state of the change cannot be stored', async () => {
    const token = await app.requested();
    await whileStatementsFail(t, 'UPDATE ON svc_email_changes', async () => {
      expect((await app.confirm(token)).status).toBeGreaterThanOrEqual(500);
    });
    expect(await app.stored()).toEqual({ email: ADA, verified: true });
    await app.confirm(token).expect(200);
  });

  it('an address that the column of the host cannot contain is refused by its link', async () => {
    const token = await app.requested(`${'x'.repeat(60)}@new.example`);
    await t.database.query('ALTER TABLE members ALTER email TYPE varchar(50)');
    const { status } = await app.confirm(token);
    await t.database.query('ALTER TABLE members ALTER email TYPE text');
    expect(status).toBe(422);
    expect(await app.stored()).toEqual({ email: ADA, verified: true });
  });

  it('a full hash queue changes nothing', async () => {
    const token = await app.changed();
    jest.spyOn(t.app.get(PasswordHasher), 'hash').mockRejectedValueOnce(new StoreUnavailable('the queue'));
    await app.undo(token).expect(503);
    expect(await app.stored()).toEqual({ email: NEW, verified: true });
    await app.undo(token).expect(200);
  });
});

describe('a request for a change of email', () => {
  const idle = EmailChangeApp.forFile({ sessions: { idleTimeout: 1200 } });

  it('ends with the idle time of its session, although no refresh has found it', async () => {
    const token = await idle.requested();
    idle.t.clock.advance(1300);
    await idle.confirm(token).expect(422);
    expect(await idle.stored()).toEqual({ email: ADA, verified: true });
  });
});

describe('an undo for a user without a password', () => {
  it('replaces a first password that is set while the access ends', async () => {
    const authenticator = new SoftAuthenticator(ORIGIN);
    await passkeys.enrol(await passkeys.confirmed(), authenticator);
    const token = await app.changed();
    await t.database.query('UPDATE members SET password_hash = NULL');
    const answer = await passkeys.answer(authenticator);
    const { body } = await t.call('post', '/auth/confirm-passkey', app.token).send(answer).expect(200);
    const store = t.app.get(SecurityStore);
    const setMany = store.setMany.bind(store);
    let sent: Promise<unknown> | undefined;
    const setPassword = () =>
      t
        .call('post', '/auth/password', app.token)
        .set(CONFIRMATION_HEADER, body.confirmation_token)
        .send({ password: NEXT, password_confirmation: NEXT })
        .expect(200);
    const spy = jest.spyOn(store, 'setMany').mockImplementation(async (keys, ...more) => {
      if (!sent && keys.some((key) => key.startsWith('svc:end:'))) await (sent = setPassword().then(() => true));
      return setMany(keys, ...more);
    });
    await app.undo(token).expect(200);
    spy.mockRestore();
    expect(await sent).toBe(true);
    await t.login(ADA, NEXT).expect(422);
  });
});
