import { mailedCode, sendCode } from '../../../../../test/support/flows/email-code';
import { UnverifiedAccount } from '../../../../../test/support/hosts/unverified-account';
import { ADA, PASSWORD } from '../../../../../test/support/hosts/user-entities';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { PasswordReset } from '../login/password-replacement';
import { Sessions } from '../sessions/sessions';

describe('a mailed code of an account without a password and with an unverified address', () => {
  const account = UnverifiedAccount.forFile({ features: { emailCode: true } });

  it('verifies no address when a session sets a first password at the same time', async () => {
    const { t } = account;
    await t.database.query('UPDATE members SET password_hash = NULL');
    const mailed = await mailedCode(t, account.mailbox);
    const sessions = account.own(Sessions);
    const endAll = sessions.endAll.bind(sessions);
    jest.spyOn(sessions, 'endAll').mockImplementationOnce(async (...args) => {
      await t.database.query("UPDATE members SET password_hash = 'of another person'");
      return endAll(...args);
    });
    await sendCode(t, mailed).expect(422);
    expect((await account.factor()).verified).toBe(false);
    expect(await account.living()).toEqual([]);
  });
});

describe('a mailed code of an account with an unverified address', () => {
  const account = UnverifiedAccount.forFile({ features: { emailCode: true } });

  it('starts no session when the password is replaced at the same time', async () => {
    const { t, users } = account;
    const mailed = await mailedCode(t, account.mailbox);
    const save = users.savePasswordHash.bind(users);
    jest.spyOn(users, 'savePasswordHash').mockImplementationOnce(async (...args) => {
      await t.database.query("UPDATE members SET password_hash = 'of a reset'");
      return save(...args);
    });
    await sendCode(t, mailed).expect(422);
    const [{ password_hash: stored }] = await t.database.query('SELECT password_hash FROM members');
    expect(stored).toBe('of a reset');
    expect(await account.living()).toEqual([]);
  });

  it('starts no session when a change of the email is confirmed until the sessions have ended', async () => {
    const { t } = account;
    const mailed = await mailedCode(t, account.mailbox);
    const sessions = account.own(Sessions);
    const endAll = sessions.endAll.bind(sessions);
    jest.spyOn(sessions, 'endAll').mockImplementationOnce(async (...args) => {
      await t.database.query("UPDATE members SET email = 'other@example.com', email_verified_at = now()");
      return endAll(...args);
    });
    await sendCode(t, mailed).expect(422);
    expect(await account.living()).toEqual([]);
  });

  it('does not restore the password of another person when the answer about the verified address is lost', async () => {
    const { t, users } = account;
    const reset = t.recorded(PasswordReset);
    const mark = users.markEmailVerified.bind(users);
    jest.spyOn(users, 'markEmailVerified').mockImplementationOnce(async (...args) => {
      await mark(...args);
      throw new StoreUnavailable('the user store');
    });
    await sendCode(t, await mailedCode(t, account.mailbox)).expect(503);
    expect((await account.factor()).verified).toBe(true);
    await t.login(ADA, PASSWORD).expect(422);
    expect(reset).toHaveLength(1);
    await sendCode(t, await mailedCode(t, account.mailbox)).expect(200);
  });

  it('keeps the password after a failure, so that another code completes it', async () => {
    const { t } = account;
    const sessions = account.own(Sessions);
    jest.spyOn(sessions, 'endAll').mockRejectedValueOnce(new Error('an outage'));
    await sendCode(t, await mailedCode(t, account.mailbox)).expect(500);
    expect((await account.factor()).verified).toBe(false);
    const { body } = await sendCode(t, await mailedCode(t, account.mailbox)).expect(200);
    expect(body).toHaveProperty('access_token');
    expect((await account.factor()).verified).toBe(true);
  });
});
