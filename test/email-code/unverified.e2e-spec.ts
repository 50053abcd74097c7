import { PasswordReset, SessionEnded, Verified } from '@svc/auth';
import { claimsOf } from '../support/hosts/app';
import { mailedCode, requestCode, sendCode } from '../support/flows/email-code';
import { member, membersForFile } from '../support/hosts/members';
import { SECOND_FACTOR_REMOVED, UnverifiedAccount } from '../support/hosts/unverified-account';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

describe('a mailed code of an account with an unverified address', () => {
  const account = UnverifiedAccount.forFile({ features: { emailCode: true } });

  it('gives the account to the owner of the address, without what another person has set up', async () => {
    const { t } = account;
    await account.addSecondFactors();
    const [reset, verified, ended] = [t.recorded(PasswordReset), t.recorded(Verified), t.recorded(SessionEnded)];
    const before = await account.living();
    expect(before.length).toBeGreaterThan(0);
    const { body } = await sendCode(t, await mailedCode(t, account.mailbox)).expect(200);
    expect(claimsOf(body.access_token)).toMatchObject({ amr: ['email'] });
    await t.get('/private', body.access_token).expect(200);
    expect(await account.living()).toEqual([{ id: claimsOf(body.access_token).fid }]);
    expect(await account.factor()).toEqual(SECOND_FACTOR_REMOVED);
    expect(await account.app.rows()).toEqual([]);
    await t.login(ADA).expect(422);
    expect([reset.length, verified.length, ended.length]).toEqual([1, 1, before.length]);
    expect(ended.map(({ reason }) => reason)).toEqual(before.map(() => 'password_reset'));
  });

  it('sets no password for a user without one', async () => {
    const { t } = account;
    await t.database.query('UPDATE members SET password_hash = NULL');
    const reset = t.recorded(PasswordReset);
    await sendCode(t, await mailedCode(t, account.mailbox)).expect(200);
    const [{ password_hash: hash, email_verified_at: at }] = await t.database.query('SELECT * FROM members');
    expect([hash, at]).toEqual([null, expect.any(Date)]);
    expect(reset).toEqual([]);
  });

  it('changes nothing of the account the next time', async () => {
    const { t } = account;
    await t.database.query('UPDATE members SET email_verified_at = now()');
    const [before] = await t.database.query('SELECT * FROM members');
    await t.session(ADA);
    await sendCode(t, await mailedCode(t, account.mailbox)).expect(200);
    expect(await t.database.query('SELECT * FROM members')).toEqual([before]);
    expect(await account.living()).toHaveLength(2);
    await t.login(ADA).expect(200);
  });

  it('changes nothing when the code is wrong', async () => {
    const { t } = account;
    const { access_token } = await t.session(ADA);
    const mailed = await mailedCode(t, account.mailbox);
    await sendCode(t, { ...mailed, code: 'x' }).expect(422);
    await t.get('/private', access_token).expect(200);
    await t.login(ADA).expect(200);
  });
});

describe('a mailed code where unverified users may not sign in', () => {
  const CONCEALING = {
    features: { emailCode: true, lockout: true },
    registration: { concealExisting: true },
    emailVerification: { blockUnverifiedLogin: true },
    lockout: { maxAttempts: 3 },
  };
  const { t, mailbox } = membersForFile(CONCEALING);

  it('proves the address, and ends the password of the person who registered it', async () => {
    const form = { name: 'Eve', email: ADA, password: PASSWORD, password_confirmation: PASSWORD };
    await t.http.post('/auth/register').send(form).expect(202);
    await mailbox.nth(1);
    const { body } = await sendCode(t, await mailedCode(t, mailbox)).expect(200);
    await t.get('/private', body.access_token).expect(200);
    await t.login(ADA).expect(422);
  });

  it('does not show by a lock whether a registration created the account', async () => {
    await member(t, ADA);
    const statuses = async (email: string): Promise<number[]> => {
      const { code_token } = (await requestCode(t, email).expect(202)).body;
      const answers: number[] = [];
      for (let i = 0; i < 4; i++) answers.push((await sendCode(t, { code_token, code: 'x' })).status);
      answers.push((await t.login(email)).status);
      return answers;
    };
    const expected = [422, 422, 422, 423, 423];
    expect([await statuses(ADA), await statuses('unknown@example.com')]).toEqual([expected, expected]);
  });

  it('leaves no counter of the address', async () => {
    await member(t, ADA);
    await t.login(ADA, 'wrong').expect(422);
    const mailed = await mailedCode(t, mailbox);
    await sendCode(t, { ...mailed, code: 'x' }).expect(422);
    await sendCode(t, mailed).expect(200);
    expect(await t.database.query('SELECT 1 FROM svc_lockouts')).toEqual([]);
  });
});

describe('a mailed code where the library verifies no addresses', () => {
  const { t, mailbox } = membersForFile({
    features: { emailCode: true, emailVerification: false, registration: false },
    emailVerification: { blockUnverifiedLogin: true },
  });

  it('does not sign in a user whose address is not verified', async () => {
    await member(t, ADA);
    const mailed = await mailedCode(t, mailbox);
    await sendCode(t, mailed).expect(403);
    await t.database.query('UPDATE members SET email_verified_at = now()');
    await sendCode(t, mailed).expect(200);
  });
});
