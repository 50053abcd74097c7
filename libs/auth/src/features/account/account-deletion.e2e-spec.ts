import { AccountDeleting, MailFailed } from '@svc/auth';
import { PausePoint } from '../../../../../test/support/faults/pause-point';
import { rounds } from '../../../../../test/support/runtime/rounds';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { member } from '../../../../../test/support/hosts/members';
import { ORIGIN } from '../../../../../test/support/flows/passkeys';
import { SoftAuthenticator } from '@svc/auth/testing';
import { UnverifiedAccount } from '../../../../../test/support/hosts/unverified-account';
import { TypeormUserProvider } from '../../identity/users/typeorm-user-provider';
import { ResetTokenStore } from '../password-reset/reset-token.store';
import { AccountDataStore } from './account-data';

const ROUNDS = rounds(4);

describe('an account whose password is reset during its deletion', () => {
  // Longer than PostgreSQL needs to detect a deadlock.
  const account = UnverifiedAccount.forFile({ storeTimeoutMs: 20_000 });
  const { app, t } = account;

  const isWaitedFor = async (): Promise<boolean> => {
    const waiting = await t.database.query(
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return waiting.length > 0;
  };

  it('is deleted without a deadlock', async () => {
    const own = await app.confirmed();
    await app.enrol(own, account.authenticator);
    const token = await account.mailed();
    // A session that starts after the other sessions have ended.
    t.on(AccountDeleting, async () => void (await t.auth.startSession(account.userId)));
    const rows = account.own(AccountDataStore);
    const [erase, half] = [rows.erase.bind(rows), new PausePoint()];
    jest.spyOn(rows, 'erase').mockImplementationOnce(async (...args) => {
      await erase(...args);
      await half.pass();
    });
    const erasing = app.call('delete', 'account', own).then(({ status }) => status);
    await half.reached;
    const resetting = account.post(token).then(({ status }) => status);
    await eventually(isWaitedFor);
    half.resume();
    expect(await erasing).toBe(204);
    expect(await resetting).toBeLessThan(500);
    for (const table of ['members', "svc_sessions WHERE user_id <> ''", 'svc_passkeys', 'svc_password_resets'])
      expect(await t.database.query(`SELECT 1 FROM ${table}`)).toEqual([]);
  });

  it('gets no reset link that is requested meanwhile, without a deadlock', async () => {
    const own = await app.confirmed();
    await account.mailed();
    t.clock.advance(61);
    const failed = t.recorded(MailFailed);
    const rows = account.own(AccountDataStore);
    const [erase, half] = [rows.erase.bind(rows), new PausePoint()];
    jest.spyOn(rows, 'erase').mockImplementationOnce(async (...args) => {
      await erase(...args);
      await half.pass();
    });
    const erasing = app.call('delete', 'account', own).then(({ status }) => status);
    await half.reached;
    await t.http.post('/auth/forgot-password').send({ email: 'ada@example.com' }).expect(200);
    await eventually(isWaitedFor);
    half.resume();
    expect(await erasing).toBe(204);
    await t.calm();
    expect(failed).toEqual([]);
    expect(await t.database.query('SELECT 1 FROM svc_password_resets')).toEqual([]);
  });

  it('gets no reset link late, where no statement can look up the user', async () => {
    // As with a user provider of the host.
    jest.spyOn(TypeormUserProvider.prototype, 'existsLockedSql').mockReturnValue(null);
    const own = await app.confirmed();
    const store = account.own(ResetTokenStore);
    const issue = store.issue.bind(store);
    let issued: boolean | undefined;
    jest.spyOn(store, 'issue').mockImplementationOnce(async (...args) => {
      await app.call('delete', 'account', own).expect(204);
      return (issued = await issue(...args));
    });
    await t.http.post('/auth/forgot-password').send({ email: 'ada@example.com' }).expect(200);
    await eventually(async () => issued === true);
    await t.calm();
    expect(await t.database.query('SELECT 1 FROM svc_password_resets')).toEqual([]);
  });

  it(`is deleted without remaining rows, in any order of the requests, in ${ROUNDS} rounds`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const email = `racer${round}@example.com`;
      const userId = await member(t, email);
      const own = await app.confirmed(email);
      await app.enrol(own, new SoftAuthenticator(ORIGIN));
      const token = await account.mailed(email);
      const [erased, ...others] = await Promise.all([
        app.call('delete', 'account', own),
        account.post(token, email),
        t.login(email),
        t.login(email),
      ]);
      // If the reset is first, it ends the confirmation of the deletion (423), and then its session (401).
      expect([204, 401, 423]).toContain(erased.status);
      expect(others.map(({ status }) => status).filter((status) => status >= 500)).toEqual([]);
      if (erased.status !== 204) continue;
      for (const table of ['svc_sessions', 'svc_passkeys', 'svc_password_resets'])
        expect(await t.database.query(`SELECT 1 FROM ${table} WHERE user_id = $1`, [userId])).toEqual([]);
    }
  });
});
