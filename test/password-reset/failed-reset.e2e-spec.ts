import { PasswordReset, StoreUnavailable, UserProvider, bcryptVerifier } from '@svc/auth';
import { hash as bcrypt } from 'bcryptjs';
import { ADA } from '../support/flows/step-up';
import { eventually } from '../support/runtime/eventually';
import { linkIn, member, membersForFile } from '../support/hosts/members';
import { PASSWORD } from '../support/hosts/user-entities';
import { whileStatementsFail } from '../support/faults/failing-statements';

const NEXT = 'another horse entirely';

describe('a reset of a password', () => {
  const { t, mailbox } = membersForFile({ features: { lockout: true } });
  beforeEach(async () => void (await member(t, ADA)));

  const users = (): UserProvider => t.app.get(UserProvider);
  async function mailed(): Promise<string> {
    const before = mailbox.mails.length;
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    return (await mailbox.linkAfter(before)).searchParams.get('token')!;
  }
  const reset = (token: string, password = NEXT) =>
    t.http.post('/auth/reset-password').send({ token, email: ADA, password, password_confirmation: password });
  const storeDown = async (): Promise<never> => Promise.reject(new StoreUnavailable('A store'));

  it.each([
    ['cannot be stored', 'UPDATE OF password_hash ON members'],
    ['cannot end the sessions', 'UPDATE ON svc_sessions'],
    ['cannot release the locks', 'DELETE ON svc_lockouts'],
  ])('that %s answers 503, and succeeds with the same link at the next attempt', async (_, statements) => {
    const live = await t.session();
    const token = await mailed();
    const events = t.recorded(PasswordReset);
    await whileStatementsFail(t, statements, () => reset(token).expect(503));
    expect(events).toEqual([]);
    await reset(token).expect(200);
    expect(events).toHaveLength(1);
    await t.get('/private', live.access_token).expect(401);
    await t.refresh(live.refresh_token).expect(401);
    await t.login(ADA).expect(422);
    await t.login(ADA, NEXT).expect(200);
    await reset(token).expect(422);
  });

  it('has ended the sessions when only the locks could not be released', async () => {
    const live = await t.session();
    const token = await mailed();
    await whileStatementsFail(t, 'DELETE ON svc_lockouts', () => reset(token).expect(503));
    await t.get('/private', live.access_token).expect(401);
  });

  it('that fails restores the link for the rest of its hour', async () => {
    const token = await mailed();
    t.clock.advance(3000);
    jest.spyOn(users(), 'savePasswordHash').mockImplementationOnce(storeDown);
    await reset(token).expect(503);
    t.clock.advance(601);
    await reset(token).expect(422);
  });

  it('that fails restores its link beside a newer one', async () => {
    const token = await mailed();
    t.clock.advance(61);
    let newer = '';
    jest.spyOn(users(), 'savePasswordHash').mockImplementationOnce(async () => {
      newer = await mailed();
      return storeDown();
    });
    await reset(token).expect(503);
    await reset(token).expect(200);
    await reset(newer).expect(422);
  });

  it('that fails does not restore the link after another change of the password', async () => {
    const token = await mailed();
    jest.spyOn(users(), 'savePasswordHash').mockImplementationOnce(async () => {
      await t.database.query("UPDATE members SET password_hash = password_hash || 'x'");
      return storeDown();
    });
    await reset(token).expect(503);
    await reset(token).expect(422);
  });

  it('with an unknown outcome at the store ends the sessions', async () => {
    const live = await t.session();
    const token = await mailed();
    const save = users().savePasswordHash.bind(users());
    jest.spyOn(users(), 'savePasswordHash').mockImplementationOnce(async (...args) => {
      await save(...args);
      return new Promise(() => undefined);
    });
    await reset(token).expect(503);
    await eventually(async () => (await t.get('/private', live.access_token)).status === 401);
    await reset(token, 'and yet another horse').expect(200);
    await t.login(ADA, 'and yet another horse').expect(200);
  });

  it('that waits for a lock on the user is not stored after the answer 503', async () => {
    const token = await mailed();
    const runner = t.database.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT 1 FROM members FOR UPDATE');
    await reset(token).expect(503);
    await runner.rollbackTransaction();
    await runner.release();
    await t.database.query("UPDATE members SET name = 'later'");
    await t.login(ADA, NEXT).expect(422);
    await t.login(ADA).expect(200);
    await reset(token).expect(200);
  });

  it('of a user who is deleted meanwhile is refused with the same answer as an invalid link', async () => {
    const refused = await reset('f'.repeat(64)).expect(422);
    const save = users().savePasswordHash.bind(users());
    jest.spyOn(users(), 'savePasswordHash').mockImplementationOnce(async (...args) => {
      await t.database.query('DELETE FROM members');
      return save(...args);
    });
    expect((await reset(await mailed())).text).toBe(refused.text);
  });
});

describe('a login that renews an imported hash', () => {
  const imported = membersForFile({
    hashing: { memoryCost: 64, timeCost: 1, verifiers: [bcryptVerifier({ rounds: 4 })] },
  });

  it('keeps the reset link, because the password is the same, until the password changes', async () => {
    await member(imported.t, ADA);
    await imported.t.database.query('UPDATE members SET password_hash = $1', [await bcrypt(PASSWORD, 4)]);
    await imported.t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    const token = linkIn(await imported.mailbox.nth(1)).searchParams.get('token');
    await imported.t.login(ADA).expect(200);
    const [{ password_hash }] = await imported.t.database.query('SELECT password_hash FROM members');
    expect(password_hash).toMatch(/^72-bytes:\$argon2id\$/);
    const chosen = { token, email: ADA, password: NEXT, password_confirmation: NEXT };
    await imported.t.database.query('UPDATE members SET password_hash = $1', [await bcrypt(PASSWORD, 4)]);
    await imported.t.http.post('/auth/reset-password').send(chosen).expect(422);
    await imported.t.database.query('UPDATE members SET password_hash = $1', [password_hash]);
    await imported.t.http.post('/auth/reset-password').send(chosen).expect(200);
  });

  it('keeps the link of a reset that it prevents', async () => {
    await member(imported.t, ADA);
    await imported.t.database.query('UPDATE members SET password_hash = $1', [await bcrypt(PASSWORD, 4)]);
    await imported.t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    const token = linkIn(await imported.mailbox.nth(1)).searchParams.get('token');
    const users = imported.t.app.get(UserProvider);
    const save = users.savePasswordHash.bind(users);
    // Between the check of the link and the new password.
    jest.spyOn(users, 'savePasswordHash').mockImplementationOnce(async (...args) => {
      await imported.t.login(ADA).expect(200);
      return save(...args);
    });
    const chosen = { token, email: ADA, password: NEXT, password_confirmation: NEXT };
    await imported.t.http.post('/auth/reset-password').send(chosen).expect(422);
    await imported.t.login(ADA).expect(200);
    await imported.t.http.post('/auth/reset-password').send(chosen).expect(200);
    await imported.t.login(ADA, NEXT).expect(200);
    await imported.t.http.post('/auth/reset-password').send(chosen).expect(422);
  });
});
