import { AccountDeleted, AccountDeleting, AuthEvents, type AuthModuleOptions } from '@svc/auth';
import { ConflictException } from '@nestjs/common';
import type { TestApp } from '../support/app';
import { ADA, HEADER, proofOf } from '../support/confirming';
import { type Mailbox, member, startMembers } from '../support/members';
import { Member, PASSWORD } from '../support/people';
import { mentions } from '../support/mentions';

describe('DELETE /account', () => {
  let t: TestApp;
  let mailbox: Mailbox;
  let id: string;
  let token: string;

  async function start(options: Partial<AuthModuleOptions> = {}): Promise<void> {
    ({ t, mailbox } = await startMembers({ features: { lockout: true, twoFactor: true }, ...options }));
    id = await member(t, ADA);
    token = (await t.session()).access_token;
  }
  afterEach(() => t.stop());

  const erase = async (as = token) => t.call('delete', '/auth/account', as).set(HEADER, await proofOf(t, as));

  /** An account with a row in every table of ours. */
  async function live(): Promise<void> {
    await t.database.query(`CREATE TABLE passkeys (credential_id varchar PRIMARY KEY, user_id text NOT NULL,
      guard text, name text, last_used_at timestamptz)`);
    await t.database.query(
      `INSERT INTO passkeys VALUES ('cred', $1, 'api', NULL, NULL), ('staff', $1, 'admin', NULL, NULL)`,
      [id],
    );
    await t.session();
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    await mailbox.nth(1);
    await t.login(ADA, 'wrong').expect(422);
    await t.call('post', '/auth/confirm-password', token).send({ password: 'wrong' }).expect(422);
    await t.database.query(
      `INSERT INTO svc_lockouts SELECT substr(md5(s || p || g), 1, 26), p, s, g, 1, NULL, now(), now()
         FROM unnest($1::text[]) s, unnest('{login,two_factor,confirm}'::text[]) p, unnest('{api,admin}'::text[]) g
       ON CONFLICT DO NOTHING`,
      [[id, `id:${id}`, `idn:${ADA}`]],
    );
  }

  it('answers 204, and leaves no row of ours that mentions the account', async () => {
    await start();
    await live();
    const other = await t.session();
    expect(await mentions(t, [id, ADA])).toEqual(
      expect.arrayContaining(['members', 'passkeys', 'svc_lockouts', 'svc_password_resets', 'svc_sessions']),
    );
    const { status, headers, text } = await erase();
    expect([status, text]).toEqual([204, '']);
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private', pragma: 'no-cache' });
    // Those of another guard are those of another account.
    await t.database.query("DELETE FROM svc_lockouts WHERE guard = 'admin'");
    await t.database.query("DELETE FROM passkeys WHERE guard = 'admin'");
    expect(await mentions(t, [id, ADA])).toEqual([]);
    for (const { access_token, refresh_token } of [other]) {
      await t.get('/private', access_token).expect(401);
      await t.refresh(refresh_token).expect(401);
    }
    await t.get('/private', token).expect(401);
    await t.login(ADA).expect(422);
  });

  it('keeps what is another guard`s or another account`s', async () => {
    await start();
    await live();
    const eve = await member(t, 'eve@example.com');
    await t.session('eve@example.com');
    expect((await erase()).status).toBe(204);
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
    expect((await erase()).status).toBe(204);
    expect(log).toEqual([
      ['deleting', ADA, 'api'],
      ['deleted', { userId: id, identifier: ADA, guard: 'api' }],
    ]);
  });

  it('lets the address register anew, by a user with a new id', async () => {
    await start();
    await live();
    expect((await erase()).status).toBe(204);
    const form = { name: 'Ada', email: ADA, password: PASSWORD, password_confirmation: PASSWORD };
    const { body } = await t.http.post('/auth/register').send(form).expect(200);
    await t.get('/private', body.access_token).expect(200);
    expect((await t.database.query('SELECT id FROM members'))[0].id).not.toBe(id);
  });

  it.each<[string, () => unknown, number]>([
    ['throws', () => throwing(new Error('secret detail')), 500],
    ['rejects', async () => Promise.reject(new Error('secret detail')), 500],
    ['objects', () => throwing(new ConflictException('There is an open order.')), 409],
  ])('leaves the account whole where a listener %s; its sessions have ended', async (_, listener, expected) => {
    await start();
    await live();
    const before = await mentions(t, [id, ADA]);
    t.app.get(AuthEvents).on(AccountDeleting, listener);
    const deleted = t.recorded(AccountDeleted);
    const { status, text } = await erase();
    expect(status).toBe(expected);
    expect(text).not.toContain('secret detail');
    expect(await mentions(t, [id, ADA])).toEqual(before);
    expect(deleted).toEqual([]);
    await t.get('/private', token).expect(401);
    await t.login(ADA).expect(200);
  });

  it('leaves the account whole where the database is cut in the middle', async () => {
    await start();
    await live();
    const before = await mentions(t, [id, ADA]);
    t.app.get(AuthEvents).on(AccountDeleting, async () => {
      await t.database.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'",
      );
    });
    expect((await erase()).status).toBeGreaterThanOrEqual(500);
    expect(await mentions(t, [id, ADA])).toEqual(before);
  });

  it('has the host remove the user where it wants to, inside the same transaction', async () => {
    const seen: unknown[] = [];
    await start({
      hooks: {
        deleteUser: async (user, { guard, manager }) => {
          seen.push([(user as Member).id, guard]);
          await manager.query(
            "UPDATE members SET name = 'gone', email = 'gone', two_factor_secret = NULL WHERE id = $1",
            [id],
          );
        },
      },
    });
    await live();
    expect((await erase()).status).toBe(204);
    expect(seen).toEqual([[id, 'api']]);
    expect(await t.database.query('SELECT name FROM members')).toEqual([{ name: 'gone' }]);
    await t.database.query('DELETE FROM members');
    await t.database.query("DELETE FROM svc_lockouts WHERE guard = 'admin'");
    await t.database.query("DELETE FROM passkeys WHERE guard = 'admin'");
    expect(await mentions(t, [id, ADA])).toEqual([]);
  });

  it('undoes what the host has done where the host fails', async () => {
    await start({
      hooks: {
        deleteUser: async (_, { manager }) => {
          await manager.query("UPDATE members SET name = 'gone'");
          throw new Error('half way');
        },
      },
    });
    await live();
    const before = await mentions(t, [id, ADA]);
    expect((await erase()).status).toBe(500);
    expect(await mentions(t, [id, ADA])).toEqual(before);
    expect(await t.database.query('SELECT name FROM members')).toEqual([{ name: 'Ada' }]);
  });

  it('sweeps by what tables there are, and not by what is switched on', async () => {
    await start();
    await live();
    await t.stop();
    const url = t.databaseUrl;
    ({ t, mailbox } = await startMembers({ features: { passwordReset: false, emailVerification: false } }));
    expect(url).not.toBe(t.databaseUrl);
    id = await member(t, ADA);
    token = (await t.session()).access_token;
    await t.database.query("INSERT INTO svc_password_resets VALUES ('api', 'other', $1, 'x', 'y', now())", [id]);
    await t.database.query("INSERT INTO svc_lockouts VALUES ('1', 'login', $1, 'api', 1, NULL, now(), now())", [
      `id:${id}`,
    ]);
    expect((await erase()).status).toBe(204);
    expect(await mentions(t, [id, ADA])).toEqual([]);
  });

  it('does without tables that are not there yet, and sees one that came later', async () => {
    await start({ features: { lockout: false } });
    for (const table of ['svc_lockouts', 'svc_password_resets']) await t.database.query(`DROP TABLE ${table}`);
    expect((await erase()).status).toBe(204);
    await t.database.query('CREATE TABLE svc_password_resets (guard text, broker text, user_id text)');
    id = await member(t, ADA);
    token = (await t.session()).access_token;
    await t.database.query("INSERT INTO svc_password_resets VALUES ('api', '', $1)", [id]);
    expect((await erase()).status).toBe(204);
    expect(await mentions(t, [id, ADA])).toEqual([]);
  });

  it('of twenty at once deletes once, and none is told of a failure', async () => {
    await start();
    const deleted = t.recorded(AccountDeleted);
    const proof = await proofOf(t, token);
    const calls = Array.from({ length: 20 }, () => t.call('delete', '/auth/account', token).set(HEADER, proof));
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 204).length).toBeGreaterThan(0);
    expect(statuses.filter((status) => ![204, 401].includes(status))).toEqual([]);
    expect(deleted).toHaveLength(1);
  });

  it('needs a token and a confirmation', async () => {
    await start();
    await t.http.delete('/auth/account').expect(401);
    await t.call('delete', '/auth/account', token).expect(423);
    await t.call('delete', '/admin/auth/account', token).expect(404);
  });

  it('takes the refresh cookie away in cookie mode', async () => {
    await start({ cookieMode: true });
    expect((await erase()).headers['set-cookie']).toMatchObject([expect.stringMatching(/^__Host-refresh=; Max-Age=0/)]);
  });

  it('is gone with features.accountDeletion off', async () => {
    await start({ features: { accountDeletion: false } });
    await t.call('delete', '/auth/account', token).expect(404);
    await t.get('/auth/account/export', token).expect(404);
  });
});

function throwing(error: Error): never {
  throw error;
}
