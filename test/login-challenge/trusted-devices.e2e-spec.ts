import {
  type AuthModuleOptions,
  DeviceTrusted,
  PasswordHasher,
  Pruning,
  RequireFactor,
  SecurityStore,
} from '@svc/auth';
import { Controller, Get } from '@nestjs/common';
import { SoftAuthenticator } from '@svc/auth/testing';
import { TestApp, claimsOf } from '../support/hosts/app';
import { eventually } from '../support/runtime/eventually';
import { tablesContaining } from '../support/views/find-texts';
import { ORIGIN, PASSKEYS, PasskeyApp } from '../support/flows/passkeys';
import { PausePoint, whilePaused } from '../support/faults/pause-point';
import { fillAnew, recordStatements, shareOfIndexRead } from '../support/stores/query-plans';
import { CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { codeOf, completeChallenge, startChallenge } from '../support/flows/two-factor';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const OTHER_SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const BOB = 'bob@example.com';
const checkpoint = PausePoint.disabled();

@Controller('with-factor')
class WithFactor {
  @Get()
  @RequireFactor('any')
  get() {
    return {};
  }
}

const OPTIONS: Partial<AuthModuleOptions> = {
  features: { twoFactor: true, lockout: true, ...PASSKEYS.features },
  passkeys: PASSKEYS.passkeys,
  twoFactor: { trustedDeviceDays: 30 },
  hooks: { tokenClaims: async () => checkpoint.pass().then(() => ({})) },
  // So that no concurrent request is answered 503 on a busy machine.
  storeTimeoutMs: 20_000,
};

const t = TestApp.forFile({ options: OPTIONS, controllers: [WithFactor] });

beforeEach(async () => {
  for (const email of [ADA, BOB]) await t.person(email);
  for (const id of ['1', '2']) await t.auth.twoFactor.importFactor(id, { secret: SECRET });
});

/** Signs in with a code and trusts the device. */
async function trust(more: object = { trust_device: true }, email = ADA) {
  const challenge_token = await startChallenge(t, email);
  const { body } = await t.http
    .post('/auth/two-factor-challenge')
    .set('User-Agent', 'Mozilla/5.0 (test)')
    .send({ challenge_token, code: codeOf(t, SECRET), ...more })
    .expect(200);
  t.clock.advance(30);
  return body as { access_token: string; refresh_token: string; trusted_device_token: string };
}
const login = (trusted_device_token: unknown, email = ADA, password = PASSWORD) =>
  t.http.post('/auth/login').send({ email, password, trusted_device_token });
const isTrusted = async (token: string, email = ADA): Promise<boolean> => {
  const { body } = await login(token, email).expect(200);
  return 'access_token' in body;
};
const rows = () => t.database.query('SELECT * FROM svc_trusted_devices ORDER BY created_at');
const list = async (token: string) => (await t.get('/auth/trusted-devices', token).expect(200)).body.data;

it('a device that is trusted while all sessions end is not trusted afterwards', async () => {
  const answer = { challenge_token: await startChallenge(t), code: codeOf(t, SECRET), trust_device: true };
  const store = t.app.get(SecurityStore);
  const setMany = store.setMany.bind(store);
  let sent: Promise<string> | undefined;
  const complete = async (): Promise<string> =>
    (await completeChallenge(t, answer).expect(200)).body.trusted_device_token;
  const spy = jest.spyOn(store, 'setMany').mockImplementation(async (keys, ...more) => {
    if (!sent && keys.some((key) => key.startsWith('svc:end:'))) await (sent = complete());
    return setMany(keys, ...more);
  });
  await t.auth.revokeAll('1');
  spy.mockRestore();
  const trusted_device_token = await sent!;
  const { body } = await t.http.post('/auth/login').send({ email: ADA, password: PASSWORD, trusted_device_token });
  expect(body).toMatchObject({ two_factor: true });
});

describe('a trusted device', () => {
  it('signs its user in with the password alone, and the session does not claim a second factor', async () => {
    const { trusted_device_token, access_token } = await trust();
    await t.get('/with-factor', access_token).expect(200);
    const { body } = await login(trusted_device_token).expect(200);
    expect(Object.keys(body).toSorted()).toEqual(['access_token', 'expires_in', 'refresh_token', 'token_type']);
    expect(claimsOf(body.access_token)).toMatchObject({ sub: '1', amr: ['pwd'] });
    await t.get('/with-factor', body.access_token).expect(401);
    // It can be used again, and a login does not extend it.
    expect(await isTrusted(trusted_device_token)).toBe(true);
  });

  it('is trusted only on request, and for texts of a form too', async () => {
    for (const more of [{}, { trust_device: false }, { trust_device: 'false' }, { trust_device: null }]) {
      expect(await trust(more)).not.toHaveProperty('trusted_device_token');
    }
    expect(await trust({ trust_device: 'true' })).toHaveProperty('trusted_device_token');
    const challenge_token = await startChallenge(t);
    for (const trust_device of ['maybe', 1, {}, [true]]) {
      const { body } = await completeChallenge(t, { challenge_token, code: codeOf(t, SECRET), trust_device }).expect(
        422,
      );
      expect(body.errors).toEqual({ trust_device: ['The trust device field is invalid.'] });
    }
    await completeChallenge(t, { challenge_token, code: codeOf(t, SECRET) }).expect(200);
  });

  it('never replaces the password, and is looked for only after it: the work of a wrong password is the same', async () => {
    const { trusted_device_token } = await trust();
    const textsOf = async (token?: string): Promise<string[]> => {
      const { statements, stop } = recordStatements(/"(?:people|svc_\w+)"/);
      const { body } = await login(token, ADA, 'wrong').expect(422);
      stop();
      expect(Object.keys(body.errors)).toEqual(['email']);
      return statements.map(({ text }) => text);
    };
    const [withToken, without] = [await textsOf(trusted_device_token), await textsOf()];
    expect(without.length).toBeGreaterThan(0);
    expect(withToken).toEqual(without);
  });

  it('is not trusted for another user, at another guard, or with another token', async () => {
    const { trusted_device_token } = await trust();
    await t.person(ADA, 'admin');
    await t.auth.guard('admin').twoFactor.importFactor('1', { secret: SECRET });
    const { body } = await t.http
      .post('/admin/auth/login')
      .send({ email: ADA, password: PASSWORD, trusted_device_token })
      .expect(200);
    expect(body).toMatchObject({ two_factor: true });
    expect(await isTrusted(trusted_device_token, BOB)).toBe(false);
    const [{ id, token_hash, binding }] = await rows();
    for (const other of [
      id,
      token_hash,
      binding,
      trusted_device_token.toUpperCase(),
      `${trusted_device_token}0`,
      'x',
    ]) {
      expect(await isTrusted(other)).toBe(false);
    }
    for (const wrong of [7, {}, ['x'], 'x'.repeat(256)]) await login(wrong).expect(422, /"trusted_device_token":\[/);
  });

  it('is stored as a hash, with the browser of its user, and an event reports it', async () => {
    const trusted = t.recorded(DeviceTrusted);
    const { trusted_device_token } = await trust();
    const [row] = await rows();
    expect(row).toMatchObject({ guard: 'api', user_id: '1', user_agent: 'Mozilla/5.0 (test)' });
    expect(trusted).toEqual([{ userId: '1', deviceId: row.id, guard: 'api' }]);
    expect(await tablesContaining(t, [trusted_device_token])).toEqual([]);
  });

  it('is trusted for the configured days, by the clock of the database', async () => {
    const { trusted_device_token } = await trust();
    t.clock.advance(30 * 86_400 - 90);
    expect(await isTrusted(trusted_device_token)).toBe(true);
    t.clock.advance(90);
    expect(await isTrusted(trusted_device_token)).toBe(false);
    expect(await list((await t.auth.startSession('1')).accessToken)).toEqual([]);
  });

  it('is trusted for fewer days after the option was lowered', async () => {
    const { trusted_device_token } = await trust();
    // As a device that was trusted while the option was 60.
    await t.database.query("UPDATE svc_trusted_devices SET expires_at = created_at + interval '60 days'");
    const { accessToken } = await t.auth.startSession('1');
    const [{ created_at, expires_at }] = await list(accessToken);
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(30 * 86_400_000);
    t.clock.advance(30 * 86_400);
    expect(await isTrusted(trusted_device_token)).toBe(false);
    expect(await list((await t.auth.startSession('1')).accessToken)).toEqual([]);
  });

  it('is listed and forgotten by its owner, one or all', async () => {
    const { access_token } = await trust();
    const kept = await trust();
    const ofBob = await trust(undefined, BOB);
    const [, first] = await list(access_token);
    expect(first).toEqual({
      id: expect.any(String),
      created_at: expect.any(String),
      expires_at: expect.any(String),
      user_agent: 'Mozilla/5.0 (test)',
    });
    expect(Date.parse(first.expires_at) - Date.parse(first.created_at)).toBe(30 * 86_400_000);
    const [other] = await list(ofBob.access_token);
    for (const id of [first.id, other.id, 'unknown']) {
      await t.call('delete', `/auth/trusted-devices/${id}`, access_token).expect(204);
    }
    expect(await list(access_token)).toHaveLength(1);
    expect(await isTrusted(kept.trusted_device_token)).toBe(true);
    await t.call('delete', '/auth/trusted-devices', access_token).expect(204);
    expect([await isTrusted(kept.trusted_device_token), await isTrusted(ofBob.trusted_device_token, BOB)]).toEqual([
      false,
      true,
    ]);
  });

  it('is one of at most 20 of a user: a further one replaces the oldest', async () => {
    const tokens: string[] = [];
    const used = new Set<string>();
    for (let i = 0; i < 21; i++) {
      // Redis refuses the digits of a used code for a while, also at another time.
      while (used.has(codeOf(t, SECRET))) t.clock.advance(30);
      used.add(codeOf(t, SECRET));
      tokens.push((await trust()).trusted_device_token);
    }
    expect(await rows()).toHaveLength(20);
    expect([await isTrusted(tokens[0]!), await isTrusted(tokens[1]!)]).toEqual([false, true]);
  });

  const factors = () => t.auth.twoFactor;
  const passkeys = new PasskeyApp(t);
  const proof = async (token: string) => ({
    access_token: token,
    refresh_token: '',
    expires_in: 0,
    proof: await confirmationTokenOf(t, token),
  });
  const ends: [string, (token: string) => Promise<unknown>][] = [
    [
      'a change of the password',
      (token) =>
        t
          .call('post', '/auth/password', token)
          .send({ current_password: PASSWORD, password: `${PASSWORD}2`, password_confirmation: `${PASSWORD}2` })
          .expect(200),
    ],
    ['the end of all sessions', () => t.auth.revokeAll('1')],
    ['the end of all other sessions', (token) => t.auth.revokeOthers('1', String(claimsOf(token).fid))],
    ['the end of all sessions of the guard', () => t.auth.revokeEverything()],
    ['the removal of the second factor', () => factors().disable('1')],
    ['another secret', () => factors().importFactor('1', { secret: OTHER_SECRET }, { replace: true })],
    [
      'the same secret again after its removal',
      () =>
        factors()
          .disable('1')
          .then(() => factors().importFactor('1', { secret: SECRET })),
    ],
    ['a new passkey', async (token) => passkeys.enrol(await proof(token), new SoftAuthenticator(ORIGIN))],
    [
      'a new passkey and its removal',
      async (token) => {
        const confirmed = await proof(token);
        const id = await passkeys.enrol(confirmed, new SoftAuthenticator(ORIGIN));
        await t.call('delete', `/auth/passkeys/${id}`, token).set(CONFIRMATION_HEADER, confirmed.proof).expect(204);
      },
    ],
  ];
  it.each(ends)('is not trusted after %s', async (_, end) => {
    const { trusted_device_token, access_token } = await trust();
    await end(access_token);
    if (!(await factors().isEnabled('1'))) await factors().importFactor('1', { secret: SECRET });
    const { body } = await login(trusted_device_token);
    const again = 'errors' in body ? (await login(trusted_device_token, ADA, `${PASSWORD}2`).expect(200)).body : body;
    expect(again).toMatchObject({ two_factor: true });
    expect(await list((await t.auth.startSession('1')).accessToken)).toEqual([]);
  });

  it('is not trusted after the second factor of a user with a passkey was removed and another one set up and removed', async () => {
    const { access_token } = await trust();
    await passkeys.enrol(await proof(access_token), new SoftAuthenticator(ORIGIN));
    const { trusted_device_token } = await trust();
    await factors().disable('1');
    await factors().importFactor('1', { secret: SECRET });
    expect(await rows()).toEqual([]);
    expect(await isTrusted(trusted_device_token)).toBe(false);
  });

  it('is forgotten at the end of all sessions of the guard also while another process deletes it', async () => {
    await trust();
    const runner = t.database.createQueryRunner();
    await runner.startTransaction();
    await runner.query('DELETE FROM svc_trusted_devices');
    const ended = t.auth.revokeEverything();
    const waits = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%svc_trusted_devices%'`;
    await eventually(async () => (await t.database.query(waits)).length > 0);
    await runner.rollbackTransaction();
    await runner.release();
    await ended;
    expect(await rows()).toEqual([]);
  });

  it.each<[string, string, () => Promise<unknown>, number]>([
    ['the end of all sessions of the guard', 'svc_trusted_devices_pkey', () => t.auth.revokeEverything(), 0],
    ['a pruning', 'svc_trusted_devices_expiry', () => t.app.get(Pruning).run(), 1],
  ])('is deleted at %s in pages, each of which starts after the one before', async (_, index, remove, remaining) => {
    // The last one has not expired.
    const devices = `
      INSERT INTO svc_trusted_devices (guard, user_id, id, token_hash, binding, created_at, expires_at)
      SELECT 'api', 'u' || n, gen_random_uuid(), '', '', now() - interval '2 days', now() - n * interval '1 s'
        FROM generate_series(1, 3000) n
      UNION ALL SELECT 'api', 'v', gen_random_uuid(), '', '', now(), now() + interval '1 day'`;
    await fillAnew(t.database, 'svc_trusted_devices', () => t.database.query(devices));
    const { statements, stop } = recordStatements();
    await remove();
    stop();
    expect(await rows()).toHaveLength(remaining);
    const last = statements.findLast(
      ({ text, values }) => /page AS MATERIALIZED[^]*DELETE FROM \S*svc_trusted/.test(text) && values[0] === 'api',
    )!;
    expect(await shareOfIndexRead(t.databaseUrl, last, index)).toBeLessThan(0.25);
  });

  it('does not keep the sessions alive where its table is missing', async () => {
    const { access_token } = await trust();
    await t.database.query('ALTER TABLE svc_trusted_devices RENAME TO svc_moved');
    await t.auth.revokeAll('1').finally(() => t.database.query('ALTER TABLE svc_moved RENAME TO svc_trusted_devices'));
    await t.get('/auth/sessions', access_token).expect(401);
  });

  it('is not trusted after a change of the password by code of the host, and is deleted with the next one', async () => {
    const { trusted_device_token } = await trust();
    const hash = await t.app.get(PasswordHasher).hash(PASSWORD);
    await t.database.query('UPDATE people SET password_hash = $1 WHERE id = 1', [hash]);
    expect(await isTrusted(trusted_device_token)).toBe(false);
    await trust();
    expect(await rows()).toHaveLength(1);
  });

  it('stays trusted after a recovery code, a logout, and the end of one session', async () => {
    const { trusted_device_token, access_token } = await trust();
    const [recovery_code] = await factors().replaceRecoveryCodes('1');
    await completeChallenge(t, { challenge_token: await startChallenge(t), recovery_code }).expect(200);
    await t.call('post', '/auth/logout', access_token).expect(204);
    expect(await isTrusted(trusted_device_token)).toBe(true);
  });

  it('is not trusted if the second factor is replaced while its code is verified', async () => {
    const challenge_token = await startChallenge(t);
    const store = t.app.get(SecurityStore);
    const advance = store.advance.bind(store);
    const replaced = jest.spyOn(store, 'advance').mockImplementationOnce(async (...args) => {
      const isLater = await advance(...args);
      await factors().importFactor('1', { secret: OTHER_SECRET }, { replace: true });
      return isLater;
    });
    const answer = { challenge_token, code: codeOf(t, SECRET), trust_device: true };
    const { body } = await completeChallenge(t, answer).expect(200);
    replaced.mockRestore();
    expect(await isTrusted(body.trusted_device_token)).toBe(false);
  });

  const changes: [string, () => Promise<unknown>][] = [
    ['its trust ends', () => t.database.query('DELETE FROM svc_trusted_devices')],
    ['all sessions are ended', () => t.auth.revokeAll('1')],
    ['the second factor is replaced', () => factors().importFactor('1', { secret: OTHER_SECRET }, { replace: true })],
  ];
  it.each(changes)('opens no session if %s during the login', async (_, change) => {
    const { trusted_device_token } = await trust();
    const { status, body } = await whilePaused(checkpoint, login(trusted_device_token), change);
    expect([status, Object.keys(body.errors)]).toEqual([422, ['email']]);
  });

  it('gets no token if all sessions are ended while its challenge is completed', async () => {
    const challenge_token = await startChallenge(t);
    const completed = completeChallenge(t, { challenge_token, code: codeOf(t, SECRET), trust_device: true });
    const { status } = await whilePaused(checkpoint, completed, () => t.auth.revokeAll('1'));
    expect([status, await rows()]).toEqual([422, []]);
  });

  it('is not stored and not reported if the session cannot be started', async () => {
    const trusted = t.recorded(DeviceTrusted);
    const challenge_token = await startChallenge(t);
    const completed = completeChallenge(t, { challenge_token, code: codeOf(t, SECRET), trust_device: true });
    const { status } = await whilePaused(checkpoint, completed, () =>
      t.database.query('ALTER TABLE svc_sessions RENAME TO moved'),
    );
    await t.database.query('ALTER TABLE moved RENAME TO svc_sessions');
    expect(status).toBeGreaterThanOrEqual(500);
    expect([await rows(), trusted]).toEqual([[], []]);
  });

  it('is in the export of the account, and is deleted with it', async () => {
    const { access_token } = await trust();
    await trust(undefined, BOB);
    const token = await confirmationTokenOf(t, access_token);
    const asConfirmed = (method: 'get' | 'delete', path: string) =>
      t.http[method](path).set('Authorization', `Bearer ${access_token}`).set(CONFIRMATION_HEADER, token);
    const { body } = await asConfirmed('get', '/auth/account/export').expect(200);
    expect(body.trusted_devices).toEqual(await list(access_token));
    expect(body.trusted_devices).toHaveLength(1);
    await asConfirmed('delete', '/auth/account').expect(204);
    expect(await rows()).toMatchObject([{ user_id: '2' }]);
  });
});

describe('a trusted device, where the option is off', () => {
  const off = TestApp.forFile({ options: { features: { twoFactor: true } } });

  it('is not stored, and a former one is not trusted', async () => {
    await off.person(ADA);
    await off.auth.twoFactor.importFactor('1', { secret: SECRET });
    const challenge_token = await startChallenge(off);
    const answer = { challenge_token, code: codeOf(off, SECRET), trust_device: true };
    const { body } = await completeChallenge(off, answer).expect(200);
    expect(body).not.toHaveProperty('trusted_device_token');
    expect(await off.database.query('SELECT 1 FROM svc_trusted_devices')).toEqual([]);
  });
});

describe('a trusted device in cookie mode', () => {
  const c = TestApp.forFile({
    options: {
      features: { twoFactor: true },
      cookieMode: true,
      twoFactor: { trustedDeviceDays: 30 },
      guards: { admin: { twoFactor: { trustedDeviceDays: 30 } } },
    },
  });
  const cookiesOf = (headers: Record<string, unknown>): string[] => (headers['set-cookie'] ?? []) as string[];
  const deviceCookie = (headers: Record<string, unknown>): string | undefined =>
    cookiesOf(headers).find((cookie) => cookie.includes('trusted-device'));
  const complete = async (guard = 'api') => {
    const challenge_token = await startChallenge(c, ADA, guard);
    const body = { challenge_token, code: codeOf(c, SECRET), trust_device: true };
    return completeChallenge(c, body, guard).expect(200);
  };

  beforeEach(async () => {
    for (const guard of ['api', 'admin']) {
      await c.person(ADA, guard);
      await c.auth.guard(guard).twoFactor.importFactor('1', { secret: guard === 'api' ? SECRET : OTHER_SECRET });
    }
  });

  it('has its token in a cookie of its guard that scripts cannot read, and not in the body', async () => {
    const { body, headers } = await complete();
    expect(body).not.toHaveProperty('trusted_device_token');
    expect(deviceCookie(headers)).toMatch(
      /^__Host-refresh.trusted-device=[0-9a-f]{64}; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    const [pair] = deviceCookie(headers)!.split(';');
    const send = (cookie: string, guard = 'api', more: object = {}) =>
      c.login(ADA, PASSWORD, guard).set('Cookie', cookie).send(more);
    expect((await send(pair!).expect(200)).body).toHaveProperty('access_token');
    // The body is not read in this mode, and the cookie of another guard has another name.
    const token = pair!.split('=')[1];
    expect((await send('', 'api', { trusted_device_token: token }).expect(200)).body).toMatchObject({
      two_factor: true,
    });
    expect((await send(pair!, 'admin').expect(200)).body).toMatchObject({ two_factor: true });
  });

  it('is refused to a page of another origin', async () => {
    const { headers } = await complete();
    const [pair] = deviceCookie(headers)!.split(';');
    await c.login(ADA).set('Cookie', pair!).set('Sec-Fetch-Site', 'cross-site').expect(403);
  });
});
