import { UserProvider } from '@svc/auth';
import { RequestDeadline } from './deadline';
import { SessionStore } from '../../features/sessions/session.store';
import { StoreUnavailable } from './errors';
import { Realms } from '../realm/realm';
import { eventually } from '../../../../../test/support/eventually';
import { failStatements } from '../../../../../test/support/failing-statements';
import { linkIn, member, membersForFile } from '../../../../../test/support/members';
import { ADA } from '../../../../../test/support/step-up';
import { PASSWORD } from '../../../../../test/support/user-entities';

const NEXT = 'another horse entirely';

describe('work after a commit', () => {
  const { t, mailbox } = membersForFile();
  beforeEach(async () => void (await member(t, ADA)));
  afterEach(() => jest.restoreAllMocks());

  /** Calls `then` after the next password hash was stored. */
  function afterPassword(then: () => unknown): void {
    const users = t.app.get(UserProvider);
    const save = users.savePasswordHash.bind(users);
    const spied = jest.spyOn(users, 'savePasswordHash').mockImplementation(async (...values) => {
      spied.mockRestore();
      const isSaved = await save(...values);
      await then();
      return isSaved;
    });
  }

  const stored = async (): Promise<string> =>
    (await t.database.query('SELECT password_hash AS hash FROM members'))[0].hash;

  /** As after earlier waits of the request for its stores: it has no time left. */
  const spendDeadline = (): unknown => jest.spyOn(RequestDeadline.prototype, 'begin').mockReturnValue(0);

  /** Makes statements fail from the moment at which the next password is stored. */
  const fails = (...statements: string[]): Promise<() => Promise<unknown>> =>
    new Promise((resolve) => afterPassword(async () => resolve(await failStatements(t, ...statements))));

  const changePassword = (token: string) =>
    t
      .call('post', '/auth/password', token)
      .send({ current_password: PASSWORD, password: NEXT, password_confirmation: NEXT });
  async function resetToken(): Promise<string> {
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    return linkIn(await mailbox.nth(1)).searchParams.get('token')!;
  }
  const resetPassword = (token: string) =>
    t.http.post('/auth/reset-password').send({ token, email: ADA, password: NEXT, password_confirmation: NEXT });

  const replacements: [what: string, send: (accessToken: string) => Promise<{ status: number }>][] = [
    ['a change of the password', async (token) => changePassword(token)],
    ['a reset of the password', async () => resetPassword(await resetToken())],
  ];

  it.each(replacements)('does not fail because %s has no time left: the other sessions end', async (_, send) => {
    const [own, other] = [await t.session(), await t.session()];
    afterPassword(spendDeadline);
    expect((await send(own.access_token)).status).toBe(200);
    jest.restoreAllMocks();
    await t.refresh(other.refresh_token).expect(401);
    await t.login(ADA, NEXT).expect(200);
  });

  it('that is unavailable restores the former password when the store is back, also long after the response', async () => {
    const { access_token: token } = await t.session();
    const former = await stored();
    const back = fails('UPDATE ON svc_sessions', 'UPDATE OF password_hash ON members');
    expect((await changePassword(token)).status).toBe(503);
    expect(await stored()).not.toBe(former);
    await (
      await back
    )();
    await eventually(async () => (await stored()) === former);
    await t.login(ADA).expect(200);
  });

  it('that is unavailable makes a reset link valid again when the store is back, also long after the response', async () => {
    const token = await resetToken();
    const back = fails('UPDATE ON svc_sessions', 'UPDATE ON svc_password_resets');
    await resetPassword(token).expect(503);
    await (
      await back
    )();
    await eventually(
      async () =>
        (await t.database.query(`SELECT 1 FROM svc_password_resets WHERE token_hash LIKE 'used:%'`)).length === 0,
    );
    await resetPassword(token).expect(200);
    await t.login(ADA, NEXT).expect(200);
  });

  it('that cannot start the session of a new account does not fail the registration', async () => {
    const start = jest.spyOn(t.app.get(Realms).get('api').get(SessionStore), 'insert');
    start.mockRejectedValueOnce(new StoreUnavailable('PostgreSQL'));
    const fields = { name: 'New', email: 'new@example.com', password: NEXT, password_confirmation: NEXT };
    const { body } = await t.http.post('/auth/register').send(fields).expect(201);
    expect(body).toMatchObject({ registered: true });
    await t.login('new@example.com', NEXT).expect(200);
  });

  it('that a sign-in cannot complete leaves no session', async () => {
    const store = t.app.get(Realms).get('api').get(SessionStore);
    const insert = store.insert.bind(store);
    // Committed, and the answer is lost.
    jest.spyOn(store, 'insert').mockImplementationOnce(async (...values) => {
      await insert(...values);
      throw new StoreUnavailable('PostgreSQL');
    });
    await t.login(ADA).expect(503);
    await eventually(async () => (await t.database.query('SELECT 1 FROM svc_sessions')).length === 0);
  });
});
