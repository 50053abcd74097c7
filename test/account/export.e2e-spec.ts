import { randomUUID } from 'node:crypto';
import { type TestApp, claimsOf } from '../support/app';
import { ADA, HEADER, proofOf, startConfirming } from '../support/confirming';
import { enrol } from '../support/two-factor';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('GET /account/export', () => {
  let t: TestApp;

  beforeEach(async () => (t = await startConfirming({ features: { twoFactor: true } })));
  afterEach(() => t.stop());

  async function exported(token: string) {
    const { body, headers, text } = await t
      .get('/auth/account/export', token)
      .set(HEADER, await proofOf(t, token))
      .expect(200);
    return { body, headers, text };
  }
  const createPasskeys = () =>
    t.database.query(`CREATE TABLE passkeys (credential_id varchar PRIMARY KEY, user_id text NOT NULL, guard text,
      name text, public_key text NOT NULL, sign_count int, last_used_at timestamptz)`);

  it('holds exactly these keys, in this order, and may not be cached', async () => {
    await createPasskeys();
    await t.database.query(`INSERT INTO passkeys VALUES ('cred-2', '1', 'api', NULL, 'KEY', 7, NULL),
      ('cred-1', '1', 'api', 'Phone', 'KEY', 7, to_timestamp(1800000000.9)), ('cred-3', '1', 'admin', NULL, 'KEY', 1, NULL),
      ('cred-4', '2', 'api', NULL, 'KEY', 1, NULL), ('cred-5', '1', NULL, NULL, 'KEY', 1, NULL)`);
    const { access_token: token } = await t.session();
    const { body, headers } = await exported(token);
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private', pragma: 'no-cache' });
    expect(Object.keys(body)).toEqual(['generated_at', 'account', 'sessions', 'passkeys', 'two_factor']);
    expect(body.generated_at).toMatch(ISO);
    expect(Object.entries(body.account)).toEqual([
      ['id', '1'],
      ['identifier', ADA],
    ]);
    expect(body.sessions.map(Object.keys)).toEqual([
      ['session', 'created_at', 'last_rotated_at', 'revoked_at', 'expires_at'],
    ]);
    expect(body.passkeys).toEqual([
      { credential_id: 'cred-1', name: 'Phone', last_used_at: 1_800_000_000 },
      { credential_id: 'cred-2', name: null, last_used_at: null },
    ]);
    expect(body.passkeys.map(Object.keys)[0]).toEqual(['credential_id', 'name', 'last_used_at']);
    expect(Object.entries(body.two_factor)).toEqual([
      ['enabled', false],
      ['confirmed_at', null],
    ]);
  });

  it('lists every session of this guard by its beginning, with its newest rotation and its end', async () => {
    const first = await t.session();
    t.clock.advance(10);
    const renewed = (await t.refresh(first.refresh_token).expect(200)).body;
    t.clock.advance(10);
    await t.refresh(renewed.refresh_token).expect(200);
    const second = await t.session();
    await t.call('post', '/auth/logout', second.access_token).expect(204);
    const { access_token: token } = await t.session();
    await t.session('bob@example.com');
    await t.session('root@example.com', 'admin');
    const { body } = await exported(token);
    expect(body.sessions.map(({ session }: { session: string }) => session)).toEqual(
      [first.access_token, second.access_token, token].map((one) => claimsOf(one).fid),
    );
    const [rotated, ended, live] = body.sessions;
    expect(Date.parse(rotated.last_rotated_at) - Date.parse(rotated.created_at)).toBeGreaterThanOrEqual(20_000);
    expect(Date.parse(rotated.expires_at) - Date.parse(rotated.created_at)).toBe(2_592_000_000);
    expect(ended.revoked_at).toMatch(ISO);
    expect(live).toMatchObject({ last_rotated_at: null, revoked_at: null });
  });

  it('holds no secret: no token, hash, key, code or TOTP secret', async () => {
    const { secret, recoveryCodes, token } = await enrol(t);
    const { body, text } = await exported(token);
    expect(body.two_factor).toEqual({ enabled: true, confirmed_at: expect.stringMatching(ISO) });
    for (const told of [secret, ...recoveryCodes, token, 'argon2', 'v1.']) expect(text).not.toContain(told);
    const rows = await t.database.query('SELECT token_hash FROM svc_refresh_tokens');
    for (const { token_hash } of rows) expect(text).not.toContain(token_hash);
  });

  it('has no passkeys where there is no such table, or another one of that name', async () => {
    const { access_token: token } = await t.session();
    expect((await exported(token)).body.passkeys).toEqual([]);
    await t.database.query('CREATE TABLE passkeys (id int, owner text)');
    expect((await exported(token)).body.passkeys).toEqual([]);
  });

  it('needs a token and a confirmation, and counts with step-up', async () => {
    const { access_token: token } = await t.session();
    await t.get('/auth/account/export').expect(401);
    await t.get('/auth/account/export', token).expect(423);
    const limited = await startConfirming({
      rateLimits: { confirm: { maxAttempts: 2 } },
      keyPrefix: `${randomUUID()}:`,
    });
    const { access_token: other } = await limited.session();
    for (const status of [423, 423, 429]) await limited.get('/auth/account/export', other).expect(status);
    await limited.stop();
  });

  it('asks a pinned session for svc.account.delete, also where the other routes are not gated', async () => {
    for (const gateAuthRoutes of [true, false]) {
      const app = await startConfirming({ features: { gateAuthRoutes } });
      for (const [abilities, status] of [
        [['svc.account'], 403],
        [['svc.account.delete'], 423],
        [['svc.account.*'], 423],
        [['*'], 423],
      ] as const) {
        const { accessToken } = await app.auth.startSession(1, {}, abilities);
        await app.get('/auth/account/export', accessToken).expect(status);
        await app.call('delete', '/auth/account', accessToken).expect(status);
      }
      await app.stop();
    }
  });
});
