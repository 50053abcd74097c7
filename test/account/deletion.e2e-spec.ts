import { AccountDeleted, AccountDeleting, AuthEvents, type AuthModuleOptions } from '@svc/auth';
import { ConflictException } from '@nestjs/common';
import type { TestApp } from '../support/app';
import { ADA } from '../support/confirming';
import { LivingAccount } from '../support/living-account';
import { member } from '../support/members';
import { mentions } from '../support/mentions';
import { storePasskey } from '../support/passkeys';
import { type Member, PASSWORD } from '../support/people';

describe('DELETE /account', () => {
  let account: LivingAccount;
  let t: TestApp;

  async function start(options: Partial<AuthModuleOptions> = {}): Promise<void> {
    account = await LivingAccount.start(options);
    ({ t } = account);
  }
  afterEach(() => t.stop());

  it('answers 204, and leaves no row of ours that mentions the account', async () => {
    await start();
    await account.live();
    const other = await t.auth.startSession(account.id);
    expect(Object.values(await account.rows()).every((count) => count > 0)).toBe(true);
    const { status, headers, text } = await account.erase();
    expect([status, text]).toEqual([204, '']);
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private', pragma: 'no-cache' });
    // Those of another guard are those of another account.
    await account.forgetTheOther();
    expect(await account.mentions()).toEqual([]);
    expect(Object.values(await account.rows())).toEqual([0, 0, 0, 0, 0, 0]);
    await t.get('/private', other.accessToken).expect(401);
    await t.refresh(other.refreshToken).expect(401);
    await t.get('/private', account.token).expect(401);
    await t.login(ADA).expect(422);
  });

  it('keeps what is another guard`s or another account`s', async () => {
    await start();
    await account.live();
    const eve = await member(t, 'eve@example.com');
    await t.session('eve@example.com');
    expect((await account.erase()).status).toBe(204);
    expect(await t.database.query('SELECT guard FROM passkeys')).toEqual([{ guard: 'admin' }]);
    expect(await t.database.query("SELECT count(*)::int AS n FROM svc_lockouts WHERE guard = 'admin'")).toEqual([
      { n: 9 },
    ]);
    expect(await mentions(t, [eve])).toEqual(expect.arrayContaining(['members', 'svc_sessions']));
  });

  it('tells before and after', async () => {
    await start();
    const log: unknown[] = [];
    const events = t.app.get(AuthEvents);
    events.on(AccountDeleting, ({ user, guard }) => log.push(['deleting', (user as Member).email, guard]));
    events.on(AccountDeleted, (event) => log.push(['deleted', { ...event }]));
    expect((await account.erase()).status).toBe(204);
    expect(log).toEqual([
      ['deleting', ADA, 'api'],
      ['deleted', { userId: account.id, identifier: ADA, guard: 'api' }],
    ]);
  });

  it('lets the address register anew, by a user with a new id', async () => {
    await start();
    await account.live();
    expect((await account.erase()).status).toBe(204);
    const form = { name: 'Ada', email: ADA, password: PASSWORD, password_confirmation: PASSWORD };
    const { body } = await t.http.post('/auth/register').send(form).expect(200);
    await t.get('/private', body.access_token).expect(200);
    expect((await t.database.query('SELECT id FROM members'))[0].id).not.toBe(account.id);
  });

  it.each<[string, () => unknown, number]>([
    ['throws', () => throwing(new Error('secret detail')), 500],
    ['rejects', async () => Promise.reject(new Error('secret detail')), 500],
    ['objects', () => throwing(new ConflictException('There is an open order.')), 409],
  ])('leaves the account whole where a listener %s; its sessions have ended', async (_, listener, expected) => {
    await start();
    await account.live();
    const proof = await account.prove();
    const whole = await account.rows();
    t.app.get(AuthEvents).on(AccountDeleting, listener);
    const deleted = t.recorded(AccountDeleted);
    const { status, text } = await account.erase(proof);
    expect(status).toBe(expected);
    expect(text).not.toContain('secret detail');
    expect(await account.rows()).toEqual(whole);
    expect(deleted).toEqual([]);
    await t.get('/private', account.token).expect(401);
    await t.login(ADA).expect(200);
  });

  it('sweeps by what tables there are, and not by what is switched on', async () => {
    const off = { passwordReset: false, emailVerification: false, passkeys: false, lockout: false, twoFactor: false };
    await start({ features: off });
    const { id } = account;
    await storePasskey(t, 'cred', id);
    await t.database.query("INSERT INTO svc_password_resets VALUES ('api', 'other', $1, 'x', 'y', now())", [id]);
    await t.database.query("INSERT INTO svc_lockouts VALUES ('1', 'login', $1, 'api', 1, NULL, now(), now())", [
      `id:${id}`,
    ]);
    expect((await account.erase()).status).toBe(204);
    expect(await account.mentions()).toEqual([]);
  });

  it('does without tables that are not there yet, and sees one that came later', async () => {
    await start({ features: { lockout: false, passkeys: false } });
    for (const table of ['svc_lockouts', 'svc_password_resets', 'passkeys']) {
      await t.database.query(`DROP TABLE ${table}`);
    }
    expect((await account.erase()).status).toBe(204);
    await t.database.query('CREATE TABLE svc_password_resets (guard text, broker text, user_id text)');
    account = await LivingAccount.of(t, account.mailbox);
    await t.database.query("INSERT INTO svc_password_resets VALUES ('api', '', $1)", [account.id]);
    expect((await account.erase()).status).toBe(204);
    expect(await account.mentions()).toEqual([]);
  });

  it('needs a token and a confirmation', async () => {
    await start();
    await t.http.delete('/auth/account').expect(401);
    await t.call('delete', '/auth/account', account.token).expect(423);
    await t.call('delete', '/admin/auth/account', account.token).expect(404);
  });

  it('takes the refresh cookie away in cookie mode', async () => {
    await start({ cookieMode: true });
    expect((await account.erase()).headers['set-cookie']).toMatchObject([
      expect.stringMatching(/^__Host-refresh=; Max-Age=0/),
    ]);
  });

  it('is gone with features.accountDeletion off', async () => {
    await start({ features: { accountDeletion: false } });
    await t.call('delete', '/auth/account', account.token).expect(404);
    await t.get('/auth/account/export', account.token).expect(404);
  });
});

function throwing(error: Error): never {
  throw error;
}
