import { UserProvider } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { type TestApp, claimsOf } from '../support/hosts/app';
import { ADA, CONFIRMATION_HEADER, stepUpForFile, confirmationTokenOf, startStepUp } from '../support/flows/step-up';
import { ORIGIN, PasskeyApp, storePasskey } from '../support/flows/passkeys';
import { SoftAuthenticator } from '@svc/auth/testing';
import { enrol } from '../support/flows/two-factor';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const KEYS = [
  'account',
  'account.id',
  'account.identifier',
  'generated_at',
  'passkeys',
  'passkeys.credential_id',
  'passkeys.last_used_at',
  'passkeys.name',
  'sessions',
  'sessions.created_at',
  'sessions.expires_at',
  'sessions.last_rotated_at',
  'sessions.revoked_at',
  'sessions.session',
  'two_factor',
  'two_factor.confirmed_at',
  'two_factor.enabled',
];

/** Every key at any depth, with its path. */
const keysIn = (value: unknown, path = ''): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  const below = Array.isArray(value)
    ? value.flatMap((item) => keysIn(item, path))
    : Object.entries(value).flatMap(([key, item]) => [`${path}${key}`, ...keysIn(item, `${path}${key}.`)]);
  return [...new Set(below)].toSorted();
};

describe('GET /account/export', () => {
  const t = stepUpForFile({ features: { twoFactor: true } });

  async function exported(token: string, from: TestApp = t) {
    const { body, headers, text } = await from
      .get('/auth/account/export', token)
      .set(CONFIRMATION_HEADER, await confirmationTokenOf(from, token))
      .expect(200);
    return { body, headers, text };
  }

  it('contains exactly these keys, in this order, and may not be cached', async () => {
    await storePasskey(t, 'cred-1', '1');
    await storePasskey(t, 'cred-2', '1');
    await storePasskey(t, 'cred-3', '1', 'admin');
    await storePasskey(t, 'cred-4', '2');
    await storePasskey(t, 'cred-5', '1', null);
    await t.database.query(
      "UPDATE svc_passkeys SET name = 'Phone', last_used_at = to_timestamp(1800000000.9) WHERE credential_id = 'cred-1'",
    );
    const { access_token: token } = await t.session();
    const { body, headers } = await exported(token);
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private', pragma: 'no-cache' });
    expect(Object.keys(body)).toEqual(['generated_at', 'account', 'sessions', 'passkeys', 'two_factor']);
    expect(body.generated_at).toMatch(ISO);
    // A number, as the column of the entity. The token contains it as a string.
    expect(claimsOf(token).sub).toBe('1');
    expect(Object.entries(body.account)).toEqual([
      ['id', 1],
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

  it('lists every session of this guard by its start, with its last rotation and its end', async () => {
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

  it('names a confirmed second factor as enabled, also if its secret is missing', async () => {
    const { access_token: token } = await t.session();
    await t.database.query('UPDATE people SET two_factor_confirmed_at = now() WHERE id = 1');
    const { body } = await exported(token);
    expect(body.two_factor).toEqual({ enabled: true, confirmed_at: expect.stringMatching(ISO) });
  });

  it('contains no token, hash, key, code or TOTP secret if every factor is in use', async () => {
    const passkeys = await PasskeyApp.start({ features: { twoFactor: true } });
    await passkeys.enrol(await passkeys.confirmed(ADA), new SoftAuthenticator(ORIGIN), {}, 'Phone');
    const { secret, recoveryCodes, token } = await enrol(passkeys.t);
    const { body, text } = await exported(token, passkeys.t);
    expect(keysIn(body)).toEqual(KEYS);
    expect(body.two_factor).toEqual({ enabled: true, confirmed_at: expect.stringMatching(ISO) });
    expect(body.passkeys).toMatchObject([{ name: 'Phone' }]);
    const rows = await passkeys.t.database.query(`
      SELECT encode(salt, 'hex') AS kept FROM svc_sessions UNION SELECT encode(salt, 'base64') FROM svc_sessions
      UNION SELECT public_key FROM svc_passkeys
      UNION SELECT unnest(ARRAY[password_hash, two_factor_secret, two_factor_recovery_codes]) FROM people WHERE id = 1
      UNION SELECT aaguid::text FROM svc_passkeys`);
    expect(rows.length).toBeGreaterThan(5);
    const kept = rows.map((row: { kept: string }) => row.kept);
    for (const secretText of [secret, ...recoveryCodes, token, 'argon2', 'v1.', ...kept])
      expect(text).not.toContain(secretText);
    await passkeys.stop();
  });

  it('contains no passkeys if their table does not exist or has other columns', async () => {
    const without = await startStepUp();
    const { access_token: token } = await without.session();
    await without.database.query('DROP TABLE svc_passkeys');
    expect((await exported(token, without)).body.passkeys).toEqual([]);
    await without.database.query('CREATE TABLE svc_passkeys (id int, owner text)');
    expect((await exported(token, without)).body.passkeys).toEqual([]);
    await without.stop();
  });

  it('names the lists of a feature that is off only while they have rows', async () => {
    const { access_token: token } = await t.session();
    await t.database.query(`
      INSERT INTO svc_email_changes VALUES (gen_random_uuid(), 'api', '1', 's', 'a', true, 'b', 'requested', 'HASH',
        'HASH', 'HASH', now(), now(), now(), now(), 'HASH');
      INSERT INTO svc_known_devices
        VALUES (gen_random_uuid(), 'api', '1', 'HASH', gen_random_uuid(), null, now(), now(), 'HASH', null);
      INSERT INTO svc_trusted_devices VALUES ('api', '1', gen_random_uuid(), 'HASH', 'HASH', null, now(), now() + interval '1 day')`);
    const lists = ['email_changes', 'known_devices', 'trusted_devices'];
    const { body } = await exported(token);
    expect(lists.map((list) => body[list])).toEqual(lists.map(() => [expect.any(Object)]));

    const on = await startStepUp({
      features: { twoFactor: true, knownDevices: true },
      knownDevices: { mail: false },
      twoFactor: { trustedDeviceDays: 30 },
    });
    const { access_token: other } = await on.session();
    await on.database.query('DELETE FROM svc_known_devices');
    const empty = (await exported(other, on)).body;
    expect(lists.map((list) => empty[list])).toEqual([undefined, [], []]);
    await on.stop();
  });

  it('answers 503 while the user store cannot report whether there is a second factor', async () => {
    const { access_token: token } = await t.session();
    const proof = await confirmationTokenOf(t, token);
    jest.spyOn(t.app.get(UserProvider), 'secondFactorOf').mockReturnValue(new Promise(() => undefined));
    await t.get('/auth/account/export', token).set(CONFIRMATION_HEADER, proof).expect(503);
  });

  it('requires a token and a confirmation, and counts with the step-up routes', async () => {
    const { access_token: token } = await t.session();
    await t.get('/auth/account/export').expect(401);
    await t.get('/auth/account/export', token).expect(423);
    const limited = await startStepUp({
      rateLimits: { confirm: { maxAttempts: 2 } },
      keyPrefix: `${randomUUID()}:`,
    });
    const { access_token: other } = await limited.session();
    for (const status of [423, 423, 429]) await limited.get('/auth/account/export', other).expect(status);
    await limited.stop();
  });

  it('requires svc.account.delete of a pinned session, even if the other routes are not gated', async () => {
    for (const gateAuthRoutes of [true, false]) {
      const app = await startStepUp({ features: { gateAuthRoutes } });
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
