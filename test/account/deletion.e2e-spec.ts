import { ConflictException } from '@nestjs/common';
import {
  AccountDeleted,
  AccountDeleting,
  type AuthHooks,
  Pruning,
  SecurityStore,
  SessionEnded,
  StoreUnavailable,
} from '@svc/auth';
import { Client } from 'pg';
import { claimsOf } from '../support/hosts/app';
import { whileStatementsFail } from '../support/faults/failing-statements';
import { PausePoint } from '../support/faults/pause-point';
import { ADA } from '../support/flows/step-up';
import { FullAccount } from '../support/hosts/full-account';
import { member } from '../support/hosts/members';
import { tablesContaining } from '../support/views/find-texts';
import { storePasskey } from '../support/flows/passkeys';
import { type Member, PASSWORD } from '../support/hosts/user-entities';
import { userProvidersOf } from '../support/stores/user-reads';

/** The seconds during which an access token can be presented, including leeway and margin for clocks. */
const LIFE = 900 + 5 + 60;

type DeleteUser = NonNullable<AuthHooks['deleteUser']>;

const ANONYMISE = `UPDATE members SET name = 'gone', email = 'gone', password_hash = NULL,
  two_factor_secret = NULL, two_factor_recovery_codes = NULL, two_factor_confirmed_at = NULL`;

const DELETE: DeleteUser = async (user, { manager }) => {
  await manager.query('DELETE FROM members WHERE id = $1', [(user as Member).id]);
};

/** The trust in devices ends together with the sessions. The row of the other guard remains. */
const WITHOUT_DEVICES = { svc_trusted_devices: 1 };

describe('DELETE /account', () => {
  const account = FullAccount.forFile();
  const { t } = account;

  it('answers 204 and leaves no row that mentions the account', async () => {
    await account.fillTables();
    const other = await t.auth.startSession(account.id);
    expect(Object.values(await account.rows()).every((count) => count > 0)).toBe(true);
    const { status, headers, text } = await account.erase();
    expect([status, text]).toEqual([204, '']);
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private', pragma: 'no-cache' });
    // The rows of the other guard belong to another account.
    await account.deleteOtherGuardRows();
    expect(await account.mentions()).toEqual([]);
    expect(Object.values(await account.rows())).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    await t.get('/private', other.accessToken).expect(401);
    await t.refresh(other.refreshToken).expect(401);
    await t.get('/private', account.token).expect(401);
    await t.login(ADA).expect(422);
  });

  it('keeps only id, guard and end time of a session, until its last access token has expired', async () => {
    t.clock.stop();
    await account.fillTables();
    const known = await t.database.query('SELECT id FROM svc_sessions ORDER BY id');
    t.clock.advance(100);
    expect((await account.erase()).status).toBe(204);
    const rows: Record<string, unknown>[] = await t.database.query('SELECT * FROM svc_sessions ORDER BY id');
    expect(rows.map(({ id }) => ({ id }))).toEqual(known);
    for (const { id, revoked_at: end, expires_at, ...rest } of rows) {
      expect(end).toEqual(expect.any(Date));
      expect(rest).toEqual({
        guard: 'api',
        user_id: '',
        salt: Buffer.alloc(0),
        scope: null,
        amr: [],
        auth_time: end,
        generation: 0,
        recent: [],
        late_generation: null,
        holders: 0,
        last_used_at: end,
        ip: null,
        user_agent: null,
        label: null,
        credential_id: null,
        origin: null,
        origin_session: null,
        jkt: null,
        idle_timeout: null,
        remembered: true,
        created_at: end,
      });
      expect(expires_at).toEqual(end);
    }
    t.clock.advance(LIFE - 1);
    expect((await t.app.get(Pruning).run()).sessions).toBe(0);
    t.clock.advance(2);
    expect((await t.app.get(Pruning).run()).sessions).toBe(known.length);
  });

  it('keeps no other data of the sessions that had ended before', async () => {
    await account.fillTables();
    await t.call('delete', '/auth/sessions/others', account.token).expect(204);
    expect((await account.erase()).status).toBe(204);
    const remainingRows =
      "SELECT 1 FROM svc_sessions WHERE user_id <> '' OR ip IS NOT NULL OR user_agent IS NOT NULL OR amr <> '{}'";
    expect(await t.database.query(remainingRows)).toEqual([]);
  });

  it('keeps the rows of other guards and other accounts', async () => {
    await account.fillTables();
    const eve = await member(t, 'eve@example.com');
    await t.session('eve@example.com');
    expect((await account.erase()).status).toBe(204);
    expect(await t.database.query('SELECT guard FROM svc_passkeys')).toEqual([{ guard: 'admin' }]);
    expect(await t.database.query("SELECT count(*)::int AS n FROM svc_lockouts WHERE guard = 'admin'")).toEqual([
      { n: 9 },
    ]);
    expect(await tablesContaining(t, [eve])).toEqual(expect.arrayContaining(['members', 'svc_sessions']));
  });

  it('emits an event before and after the deletion', async () => {
    const log: unknown[] = [];
    t.on(AccountDeleting, ({ user, guard }) => log.push(['deleting', (user as Member).email, guard]));
    t.on(AccountDeleted, (event) => log.push(['deleted', { ...event }]));
    expect((await account.erase()).status).toBe(204);
    expect(log).toEqual([
      ['deleting', ADA, 'api'],
      ['deleted', { userId: account.id, identifier: ADA, guard: 'api' }],
    ]);
  });

  it('makes the address available for registration by a new user', async () => {
    await account.fillTables();
    expect((await account.erase()).status).toBe(204);
    const form = { name: 'Ada', email: ADA, password: PASSWORD, password_confirmation: PASSWORD };
    const { body } = await t.http.post('/auth/register').send(form).expect(200);
    await t.get('/private', body.access_token).expect(200);
    expect((await t.database.query('SELECT id FROM members'))[0].id).not.toBe(account.id);
  });

  it.each<[string, () => unknown, number]>([
    ['throws', () => throwing(new Error('secret detail')), 500],
    ['rejects', async () => Promise.reject(new Error('secret detail')), 500],
    ['refuses with a conflict', () => throwing(new ConflictException('There is an open order.')), 409],
  ])('keeps the account and its session if a listener %s, and can be repeated', async (_, listener, expected) => {
    await account.fillTables();
    const { accessToken: other } = await t.auth.startSession(account.id);
    const proof = await account.prove();
    const rowsBefore = await account.rows();
    let isRefused = true;
    t.on(AccountDeleting, () => isRefused && listener());
    const deleted = t.recorded(AccountDeleted);
    const { status, text } = await account.erase(proof);
    expect(status).toBe(expected);
    expect(text).not.toContain('secret detail');
    expect(await account.rows()).toEqual({ ...rowsBefore, ...WITHOUT_DEVICES });
    expect(deleted).toEqual([]);
    await t.get('/private', other).expect(401);
    await t.get('/private', account.token).expect(200);
    isRefused = false;
    expect((await account.erase(proof)).status).toBe(204);
    await t.get('/private', account.token).expect(401);
  });

  it('can be repeated with the same tokens after the database has failed', async () => {
    await account.fillTables();
    const proof = await account.prove();
    const rowsBefore = await account.rows();
    await whileStatementsFail(t, 'DELETE ON members', async () => {
      expect((await account.erase(proof)).status).toBe(503);
    });
    expect(await account.rows()).toEqual({ ...rowsBefore, ...WITHOUT_DEVICES, svc_sessions: 1 });
    await t.get('/private', account.token).expect(200);
    expect((await account.erase(proof)).status).toBe(204);
    await account.deleteOtherGuardRows();
    expect(await account.mentions()).toEqual([]);
  });

  it('denies the session that sends it after the commit, also if the store fails for a moment', async () => {
    const key = `svc:dl:fid:${claimsOf(account.token).fid}`;
    const store = t.app.get(SecurityStore);
    const setMany = store.setMany.bind(store);
    const usersAtDenial: number[] = [];
    jest.spyOn(store, 'setMany').mockImplementation(async (keys, ...rest) => {
      if (keys.includes(key)) {
        usersAtDenial.push((await t.database.query('SELECT 1 FROM members')).length);
        if (usersAtDenial.length === 1) throw new StoreUnavailable('Redis');
      }
      return setMany(keys, ...rest);
    });
    expect((await account.erase()).status).toBe(204);
    expect(usersAtDenial).toEqual([0, 0]);
    expect(await store.getMany([key])).toEqual(['true']);
  });

  it('is completed if the answer to its commit is lost', async () => {
    await account.fillTables();
    const proof = await account.prove();
    const [deleted, ended] = [t.recorded(AccountDeleted), t.recorded(SessionEnded)];
    const query = Client.prototype.query as (...args: unknown[]) => Promise<unknown>;
    let isDeletion = false;
    jest.spyOn(Client.prototype, 'query').mockImplementation(async function (this: Client, ...args: unknown[]) {
      const [first] = args as [string | { text: string }];
      const text = typeof first === 'string' ? first : first.text;
      isDeletion ||= text.startsWith('DELETE FROM "members"');
      const result = await query.apply(this, args);
      if (!isDeletion || text !== 'COMMIT') return result;
      isDeletion = false;
      throw new Error('Connection terminated unexpectedly');
    } as never);
    expect((await account.erase(proof)).status).toBe(204);
    await account.deleteOtherGuardRows();
    expect(await account.mentions()).toEqual([]);
    expect(deleted).toHaveLength(1);
    expect(ended.filter(({ familyId }) => familyId === claimsOf(account.token).fid)).toHaveLength(1);
  });

  it('asks the provider for the spelling of the identifier before anything ends', async () => {
    for (const users of userProvidersOf(t))
      jest.spyOn(users, 'comparedForm').mockImplementation(() => {
        throw new Error('no spelling');
      });
    expect((await account.erase()).status).toBe(500);
    jest.restoreAllMocks();
    await t.get('/private', account.token).expect(200);
    expect((await account.erase()).status).toBe(204);
  });

  it('requires a token and a confirmation', async () => {
    await t.http.delete('/auth/account').expect(401);
    await t.call('delete', '/auth/account', account.token).expect(423);
    await t.call('delete', '/admin/auth/account', account.token).expect(404);
  });
});

describe('DELETE /account of a host with other options', () => {
  let account: FullAccount;
  afterEach(() => account.t.stop());

  it('deletes from all existing tables, also those of features that are off', async () => {
    const off = { passwordReset: false, emailVerification: false, passkeys: false, lockout: false, twoFactor: false };
    account = await FullAccount.start({ features: off });
    const { t, id } = account;
    await storePasskey(t, 'cred', id);
    await t.database.query("INSERT INTO svc_password_resets VALUES ('api', 'other', $1, 'x', 'y', now())", [id]);
    await t.database.query("INSERT INTO svc_lockouts VALUES ('1', 'login', $1, 'api', 1, NULL, now(), now())", [
      `id:${id}`,
    ]);
    expect((await account.erase()).status).toBe(204);
    expect(await account.mentions()).toEqual([]);
  });

  it('works without tables that do not exist yet, and finds a table that is created later', async () => {
    account = await FullAccount.start({ features: { lockout: false, passkeys: false, knownDevices: false } });
    const { t } = account;
    for (const table of [
      'svc_lockouts',
      'svc_password_resets',
      'svc_passkeys',
      'svc_email_changes',
      'svc_email_deliveries',
      'svc_known_devices',
      'svc_device_keys',
    ]) {
      await t.database.query(`DROP TABLE ${table}`);
    }
    expect((await account.erase()).status).toBe(204);
    await t.database.query('CREATE TABLE svc_password_resets (guard text, broker text, user_id text)');
    await account.begin();
    await t.database.query("INSERT INTO svc_password_resets VALUES ('api', '', $1)", [account.id]);
    expect((await account.erase()).status).toBe(204);
    expect(await account.mentions()).toEqual([]);
  });

  it('removes the refresh cookie in cookie mode', async () => {
    account = await FullAccount.start({ cookieMode: true });
    expect((await account.erase()).headers['set-cookie']).toMatchObject([
      expect.stringMatching(/^__Host-refresh=; Max-Age=0/),
    ]);
  });

  it('has no route with features.accountDeletion off', async () => {
    account = await FullAccount.start({ features: { accountDeletion: false } });
    await account.t.call('delete', '/auth/account', account.token).expect(404);
    await account.t.get('/auth/account/export', account.token).expect(404);
  });
});

describe('hooks.deleteUser', () => {
  let deleteUser: DeleteUser;
  const account = FullAccount.forFile({ hooks: { deleteUser: (user, context) => deleteUser(user, context) } });
  const { t } = account;

  it('removes the user inside the transaction of the deletion', async () => {
    const seen: unknown[] = [];
    deleteUser = async (user, { guard, manager }) => {
      seen.push([(user as Member).id, guard]);
      await manager.query(ANONYMISE);
    };
    await account.fillTables();
    expect((await account.erase()).status).toBe(204);
    expect(seen).toEqual([[account.id, 'api']]);
    expect(await t.database.query('SELECT name FROM members')).toEqual([{ name: 'gone' }]);
    await t.database.query('DELETE FROM members');
    await account.deleteOtherGuardRows();
    expect(await account.mentions()).toEqual([]);
  });

  it.each<[string, DeleteUser, number]>([
    ['throws', async () => Promise.reject(new Error('half way')), 500],
    [
      'cuts the connection',
      async (_, { manager }) => {
        const [{ pid }] = await manager.query('SELECT pg_backend_pid() AS pid');
        await t.database.query('SELECT pg_terminate_backend($1)', [pid]);
      },
      503,
    ],
    // PostgreSQL would respond to COMMIT with ROLLBACK, without an error.
    ['swallows the error of a statement', async (_, { manager }) => manager.query('SELEC').catch(() => undefined), 500],
  ])('leaves the account unchanged if it %s, and can be repeated', async (_, fail, expected) => {
    const deleted = t.recorded(AccountDeleted);
    let fails = true;
    deleteUser = async (user, context) => {
      await context.manager.query(ANONYMISE);
      if (fails) await fail(user, context);
    };
    await account.fillTables();
    const proof = await account.prove();
    const rowsBefore = await account.rows();
    expect((await account.erase(proof)).status).toBe(expected);
    expect(await account.rows()).toEqual({ ...rowsBefore, ...WITHOUT_DEVICES, svc_sessions: 1 });
    expect(await t.database.query('SELECT name FROM members')).toEqual([{ name: 'Ada' }]);
    expect(deleted).toEqual([]);
    fails = false;
    expect((await account.erase(proof)).status).toBe(204);
    expect(await account.rows()).toMatchObject({ svc_passkeys: 1, svc_sessions: 0 });
    expect(deleted).toHaveLength(1);
  });

  it('may end the sessions of the user itself', async () => {
    deleteUser = async (user, context) => {
      await t.auth.revokeAll((user as Member).id);
      await DELETE(user, context);
    };
    expect((await account.erase()).status).toBe(204);
    expect(await account.rows()).toMatchObject({ members: 0, svc_sessions: 0 });
  });

  it('is not called again if it has deleted the user elsewhere before its transaction fails: the rest is deleted', async () => {
    const deleted = t.recorded(AccountDeleted);
    const calls: string[] = [];
    deleteUser = async (user, { manager }) => {
      const { id } = user as Member;
      calls.push(id);
      await t.database.query('DELETE FROM members WHERE id = $1', [id]);
      const [{ pid }] = await manager.query('SELECT pg_backend_pid() AS pid');
      await t.database.query('SELECT pg_terminate_backend($1)', [pid]);
    };
    await account.fillTables();
    expect((await account.erase()).status).toBe(204);
    expect(calls).toEqual([account.id]);
    await account.deleteOtherGuardRows();
    expect(await account.mentions()).toEqual([]);
    expect(deleted).toHaveLength(1);
    await t.get('/private', account.token).expect(401);
  });

  it.each<[number, string, (more: () => Promise<unknown>) => Promise<unknown>]>([
    [2, 'while a listener uses a second one', (beside) => beside()],
    [1, 'while no other one is in use', async () => undefined],
  ])('has a connection in a pool of %i, %s', async (max, _, twice) => {
    deleteUser = async (user, { manager }) => {
      await twice(() => small.t.database.query('SELECT 1'));
      await manager.query('DELETE FROM members WHERE id = $1', [(user as Member).id]);
    };
    const hooks: AuthHooks = { deleteUser: (user, context) => deleteUser(user, context) };
    const small = await FullAccount.start({ hooks }, { pool: { max } });
    const deleted = small.t.recorded(AccountDeleted);
    small.t.on(AccountDeleting, () => small.t.database.query('SELECT 1'));
    expect((await small.erase()).status).toBe(204);
    expect(deleted).toHaveLength(1);
    await small.t.stop();
  });
});

describe('a login during the deletion of its account', () => {
  let deleteUser: DeleteUser;
  let beforeTokens: () => Promise<void>;
  const account = FullAccount.forFile({
    hooks: {
      tokenClaims: async () => {
        await beforeTokens();
        return {};
      },
      deleteUser: (user, context) => deleteUser(user, context),
    },
  });
  const { t } = account;
  // The users sign in before each test.
  beforeAll(() => (beforeTokens = async () => undefined));
  afterEach(() => (beforeTokens = async () => undefined));

  it.each<[string, DeleteUser]>([
    ['is deleted', DELETE],
    ['stays', async () => undefined],
  ])('before the sessions are deleted leaves no session and no access token, if the row %s', async (_, dispose) => {
    deleteUser = dispose;
    const begun: string[] = [];
    // The sessions have ended, but no row is deleted yet.
    t.on(AccountDeleting, async () => {
      const tokens = await t.session();
      begun.push(tokens.access_token);
      await t.get('/private', tokens.access_token).expect(200);
    });
    expect((await account.erase()).status).toBe(204);
    await t.get('/private', begun[0]).expect(401);
    expect(await account.rows()).toMatchObject({ svc_sessions: 0 });
  });

  it.each<[string, DeleteUser]>([
    ['is deleted', DELETE],
    ['stays', async () => undefined],
  ])('between the deletion of the sessions and the commit leaves none either, if the row %s', async (_, dispose) => {
    const [atLogin, atWork] = [new PausePoint(), new PausePoint()];
    deleteUser = async (user, context) => {
      await atWork.pass();
      await dispose(user, context);
    };
    const proof = await account.prove();
    beforeTokens = () => atLogin.pass();
    // The password is verified, but the session is not stored yet.
    const login = t.login(ADA).then((response) => response);
    await atLogin.reached;
    const erasure = account.erase(proof);
    await Promise.race([atWork.reached, erasure]);
    atLogin.resume();
    const { body } = await login;
    atWork.resume();
    expect((await erasure).status).toBe(204);
    expect(body.access_token).toEqual(expect.any(String));
    await t.get('/private', body.access_token).expect(401);
    await t.refresh(body.refresh_token).expect(401);
    expect(await account.rows()).toMatchObject({ svc_sessions: 0 });
  });
});

function throwing(error: Error): never {
  throw error;
}
