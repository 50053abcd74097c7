import { UserProvider } from '@svc/auth';
import { RequestDeadline } from './deadline';
import { SessionStore } from '../../features/sessions/session.store';
import { StoreUnavailable } from './errors';
import { Realms } from '../realm/realm';
import { claimsOf } from '../../../../../test/support/hosts/app';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { failStatements } from '../../../../../test/support/faults/failing-statements';
import { linkIn, member, membersForFile } from '../../../../../test/support/hosts/members';
import { ADA } from '../../../../../test/support/flows/step-up';
import { PASSWORD } from '../../../../../test/support/hosts/user-entities';

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

  it.each(replacements)(
    'that is unavailable ends the other sessions when the store is back, also long after %s was answered',
    async (_, send) => {
      const [own, other] = [await t.session(), await t.session()];
      const statements = [
        'UPDATE ON svc_sessions',
        'UPDATE OF password_hash ON members',
        'UPDATE ON svc_password_resets',
      ];
      // A reset uses its link up before it stores the password.
      const back = fails(...statements);
      expect((await send(own.access_token)).status).toBe(503);
      await (
        await back
      )();
      const live = 'SELECT 1 FROM svc_sessions WHERE id = $1 AND revoked_at IS NULL';
      await eventually(async () => (await t.database.query(live, [claimsOf(other.access_token).fid])).length === 0);
      // The new password stays: an undo after the response would change it after a client has seen that it is valid.
      await t.login(ADA, NEXT).expect(200);
      await t.login(ADA).expect(422);
    },
  );

  it('that fails at once restores the former password before the response', async () => {
    const own = await t.session();
    const former = await stored();
    const back = fails('UPDATE ON svc_sessions');
    expect((await changePassword(own.access_token)).status).toBe(503);
    await (
      await back
    )();
    expect(await stored()).toBe(former);
    await t.login(ADA).expect(200);
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
