import { PasswordHasher, SessionStarted } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { hash } from 'node:crypto';
import { claimsOf } from '../support/hosts/app';
import { eventually } from '../support/runtime/eventually';
import { whileStatementsFail } from '../support/faults/failing-statements';
import {
  DEVICE_HEADER,
  FIREFOX,
  deviceRows,
  knownDeviceOptions,
  newDevice,
  report,
  signInOn,
} from '../support/flows/known-devices';
import { linkIn, member, membersForFile } from '../support/hosts/members';
import { ORIGIN, PASSKEYS, PasskeyApp } from '../support/flows/passkeys';
import { SecurityLines } from '../support/views/security-lines';
import { CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { ADA, PASSWORD } from '../support/hosts/user-entities';
import { codeOf, completeChallenge, enrol, startChallenge } from '../support/flows/two-factor';

const BOB = 'bob@example.com';
const sha256 = (text: string): string => hash('sha256', text, 'hex');
const familyOf = (token: string): unknown => claimsOf(token).fid;

describe('the device of a sign-in, in body mode', () => {
  const { t } = membersForFile(
    knownDeviceOptions({ passkeys: PASSKEYS.passkeys, features: { twoFactor: true, passkeys: true } }),
  );
  let id: string;
  let started: SessionStarted[];
  beforeEach(async () => {
    id = await member(t, ADA);
    started = t.recorded(SessionStarted);
  });

  const states = () => started.map(({ device }) => device);

  it('is new without a token, and known with the token of an earlier sign-in, which is renewed', async () => {
    const { body } = await signInOn(t);
    expect(body.device_token).toMatch(/^[0-9a-f]{64}\.[0-9a-f]{64}$/);
    t.clock.advance(60);
    const again = await signInOn(t, body.device_token);
    expect(again.body.device_token).toBe(body.device_token);
    expect(states()).toEqual(['new', 'known']);
    const [row, ...others] = await deviceRows(t);
    expect(others).toEqual([]);
    expect(row).toEqual({
      id: expect.any(String),
      guard: 'api',
      user_id: id,
      device_hash: sha256(body.device_token.slice(0, 64)),
      session_id: familyOf(body.access_token),
      user_agent: FIREFOX,
      first_seen_at: expect.any(Date),
      last_seen_at: expect.any(Date),
      link_hash: null,
      mail_due: false,
      reported_at: null,
    });
    expect(row!.last_seen_at.getTime() - row!.first_seen_at.getTime()).toBeGreaterThanOrEqual(60_000);
  });

  it('is new with a token that this server has not made for this guard', async () => {
    const device = await newDevice(t);
    await t.person('root@example.com', 'admin');
    const ofAdmin = (await signInOn(t, undefined, 'root@example.com', 'admin')).body.device_token;
    const [deviceId, signature] = device.split('.') as [string, string];
    const flipped = (text: string): string => (text.startsWith('0') ? '1' : '0') + text.slice(1);
    for (const token of [
      `${flipped(deviceId)}.${signature}`,
      `${deviceId}.${flipped(signature)}`,
      `${deviceId}.`,
      deviceId,
      `${device}0`,
      device.toUpperCase(),
      ofAdmin,
      'x'.repeat(8000),
      '%00',
      '',
    ]) {
      const { body } = await signInOn(t, token);
      expect([token, [device, token].includes(body.device_token)]).toEqual([token, false]);
      expect(started.at(-1)!.device).toBe('new');
    }
    expect((await signInOn(t, ofAdmin, 'root@example.com', 'admin')).body.device_token).toBe(ofAdmin);
    expect(started.at(-1)).toMatchObject({ guard: 'admin', device: 'known' });
  });

  it('is known by user: the token has a part for each of the last four users of the device', async () => {
    const users = [ADA, BOB, 'eve@example.com', 'dan@example.com', 'mia@example.com'];
    for (const email of users.slice(1)) await member(t, email);
    let device = '';
    const signIn = async (email: string) => {
      const former = device.split('~');
      device = (await signInOn(t, device, email)).body.device_token;
      const [own, ...others] = device.split('~');
      expect(others).toEqual(former.filter((part) => part && part !== own).slice(0, 3));
      return started.at(-1)!.device;
    };
    for (const email of users.slice(0, 4)) expect(await signIn(email)).toBe('new');
    for (const email of users.slice(0, 4)) expect(await signIn(email)).toBe('known');
    expect(await signIn(users[4]!)).toBe('new');
    expect(await signIn(users[1]!)).toBe('known');
    expect(await signIn(ADA)).toBe('new');
    expect(new Set((await deviceRows(t)).map(({ device_hash }) => device_hash)).size).toBe(6);
  });

  it('is new once, for concurrent sign-ins with the token of a device that was forgotten', async () => {
    const device = await newDevice(t);
    await t.database.query('UPDATE svc_known_devices SET device_hash = NULL');
    started.length = 0;
    await Promise.all(Array.from({ length: 8 }, () => signInOn(t, device)));
    expect(states().toSorted()).toEqual([...Array(7).fill('known'), 'new']);
    expect(await deviceRows(t)).toHaveLength(2);
  });

  it('is recorded after a complete sign-in only', async () => {
    await t.login(ADA, 'wrong').expect(422);
    expect(await deviceRows(t)).toEqual([]);
    const { secret } = await enrol(t);
    await t.database.query('DELETE FROM svc_known_devices');
    const challenge_token = await startChallenge(t);
    await completeChallenge(t, { challenge_token, code: '000000' }).expect(422);
    expect(await deviceRows(t)).toEqual([]);
    const { body } = await completeChallenge(t, { challenge_token, code: codeOf(t, secret) }).expect(200);
    expect(started.at(-1)!.device).toBe('new');
    const next = { challenge_token: await startChallenge(t), code: codeOf(t, secret, 1) };
    await completeChallenge(t, next).set(DEVICE_HEADER, body.device_token).expect(200);
    expect(started.at(-1)!.device).toBe('known');
    expect(await deviceRows(t)).toHaveLength(1);
  });

  it('is recorded after a sign-in with a passkey', async () => {
    const app = new PasskeyApp(t);
    const authenticator = new SoftAuthenticator(ORIGIN);
    await app.enrol(await app.confirmed(), authenticator);
    const { device_token } = (await app.signIn(authenticator)) as unknown as { device_token: string };
    expect(started.at(-1)!.device).toBe('new');
    const { ceremony_id, credential } = await app.answer(authenticator);
    const { body } = await app.login(ceremony_id, credential).set(DEVICE_HEADER, device_token).expect(200);
    expect([started.at(-1)!.device, body.device_token]).toEqual(['known', device_token]);
  });

  it('is recorded after a registration that signs in', async () => {
    const body = { name: 'Bob', email: BOB, password: 'correct horse', password_confirmation: 'correct horse' };
    const registered = await t.http.post('/auth/register').send(body).expect(200);
    expect(registered.body.device_token).toEqual(expect.any(String));
    expect(states()).toEqual(['new']);
    await t.login(BOB, 'correct horse').set(DEVICE_HEADER, registered.body.device_token).expect(200);
    expect(states()).toEqual(['new', 'known']);
  });

  it('is that of the request of a host that starts a session, and none without a request', async () => {
    const device = await newDevice(t);
    const without = await t.auth.startSession(id, { client: { ip: null, userAgent: null } });
    expect(without.deviceToken).toBeUndefined();
    const request = { ip: '203.0.113.7', headers: { 'user-agent': FIREFOX, 'x-svc-device': device } };
    const tokens = await t.auth.startSession(id, { request });
    expect(tokens.deviceToken).toEqual({ token: device, expiresIn: 400 * 86_400 });
    expect(started.map(({ device: state, client }) => [state, client.ip])).toEqual([
      ['new', '127.0.0.1'],
      [null, null],
      ['known', '203.0.113.7'],
    ]);
  });

  it('is part of the tokens of a server call', async () => {
    const device = await newDevice(t);
    const source = { headers: { [DEVICE_HEADER]: device } };
    const tokens = await t.auth.login.attempt({ identifier: ADA, password: PASSWORD }, source);
    expect(tokens).toMatchObject({ deviceToken: { token: device } });
    expect(states()).toEqual(['new', 'known']);
  });

  it('is not part of the answer to a refresh', async () => {
    const { body } = await signInOn(t);
    expect((await t.refresh(body.refresh_token).expect(200)).body).not.toHaveProperty('device_token');
  });

  it('grants nothing: its token needs the same proofs, and is no credential', async () => {
    const device = await newDevice(t);
    await t.login(ADA, 'wrong').set(DEVICE_HEADER, device).expect(422);
    await t.get('/private', device).expect(401);
    await t.get('/private').set(DEVICE_HEADER, device).expect(401);
    await t.refresh(device).expect(401);
  });

  it('a sign-in that cannot record it is answered 503, and leaves no session', async () => {
    await whileStatementsFail(t, 'INSERT ON svc_known_devices', async () => {
      const { body } = await t.login(ADA).expect(503);
      expect(body).not.toHaveProperty('access_token');
    });
    const live = 'SELECT count(*)::int AS n FROM svc_sessions WHERE revoked_at IS NULL';
    // The session may end after the response.
    await eventually(async () => (await t.database.query(live))[0].n === 0);
    await signInOn(t);
    expect(states()).toEqual(['new']);
  });

  it('a user keeps at most 50 devices: a further one replaces the device with the oldest sign-in', async () => {
    const oldest = await newDevice(t);
    t.clock.advance(60);
    const older = await newDevice(t);
    await t.database.query(
      `INSERT INTO svc_known_devices (id, guard, user_id, device_hash, session_id, first_seen_at, last_seen_at)
       SELECT gen_random_uuid(), 'api', $1, 'x' || n, gen_random_uuid(), now() + interval '1 hour', now() + interval '1 hour'
         FROM generate_series(1, 48) n`,
      [id],
    );
    await signInOn(t, older);
    t.clock.advance(7200);
    await newDevice(t);
    expect(await deviceRows(t)).toHaveLength(50);
    await signInOn(t, older);
    await signInOn(t, oldest);
    expect(states().slice(-2)).toEqual(['known', 'new']);
  });

  it('is not recorded when the password was replaced during the sign-in', async () => {
    const hasher = t.app.get(PasswordHasher);
    const verify = hasher.verify.bind(hasher);
    const spy = jest.spyOn(hasher, 'verify').mockImplementation(async (...args: Parameters<typeof verify>) => {
      const result = await verify(...args);
      await t.database.query("UPDATE members SET password_hash = 'another'");
      return result;
    });
    await t.login(ADA).expect(422);
    spy.mockRestore();
    expect(await deviceRows(t)).toEqual([]);
  });
});

describe('a sign-in whose session ends before the device is recorded', () => {
  let calls = 0;
  let atSecond: (userId: string) => Promise<unknown> = async () => undefined;
  const { t } = membersForFile(
    knownDeviceOptions({
      hooks: {
        canSignIn: async (user) => {
          // After the session was stored.
          if (++calls === 2) await atSecond((user as { id: string }).id);
          return true;
        },
      },
    }),
  );

  it('leaves no row, so that none outlives the deletion of the account', async () => {
    const id = await member(t, ADA);
    const started = t.recorded(SessionStarted);
    atSecond = (userId) => t.auth.revokeAll(userId);
    calls = 0;
    const { body } = await t.login(ADA).expect(200);
    expect(started).toMatchObject([{ userId: id, device: null }]);
    expect(body).not.toHaveProperty('device_token');
    expect(await deviceRows(t)).toEqual([]);
    await t.get('/private', body.access_token).expect(401);
  });
});

describe('the export of an account', () => {
  const { t } = membersForFile(knownDeviceOptions());

  it('has the devices of the user, without those that were forgotten', async () => {
    const id = await member(t, ADA);
    const { body } = await signInOn(t);
    await signInOn(t);
    await t.database.query('UPDATE svc_known_devices SET device_hash = NULL WHERE session_id <> $1', [
      familyOf(body.access_token),
    ]);
    const proof = await confirmationTokenOf(t, body.access_token);
    const exported = await t.get('/auth/account/export', body.access_token).set(CONFIRMATION_HEADER, proof).expect(200);
    const row = (await deviceRows(t)).find(({ device_hash }) => device_hash !== null);
    expect(row!.user_id).toBe(id);
    expect(exported.body.known_devices).toEqual([
      {
        id: row!.id,
        first_seen_at: row!.first_seen_at.toISOString(),
        last_seen_at: row!.last_seen_at.toISOString(),
        user_agent: FIREFOX,
      },
    ]);
  });
});

describe('the security log', () => {
  const log = new SecurityLines();
  const { t, mailbox } = membersForFile(knownDeviceOptions(log.options));

  it('names whether the device of a sign-in is known, the report of a sign-in, and a link that is not valid', async () => {
    await member(t, ADA);
    const started = async (work: () => Promise<unknown>) =>
      (await log.during(work)).find(({ event }) => event === 'auth.session.started');
    const device = await newDevice(t);
    expect(await started(() => signInOn(t, device))).toMatchObject({ purpose: 'known' });
    expect(await started(() => signInOn(t))).toMatchObject({ purpose: 'new' });
    const token = linkIn(await mailbox.nth(1)).searchParams.get('token');
    const lines = await log.during(() => report(t, token).expect(200));
    const reported = lines.filter(({ event }) => event.startsWith('auth.sign_in'));
    expect(reported).toEqual([
      { event: 'auth.sign_in.reported', guard: 'api', user_id: expect.any(String), session_id: expect.any(String) },
    ]);
    expect(await log.lineOf(() => report(t, 'none'), 422)).toMatchObject({
      event: 'auth.sign_in_report.failed',
      reason: 'report_failed',
    });
    expect(JSON.stringify(log.lines)).not.toContain(device.slice(0, 64));
  });
});

describe('the device of a sign-in, in cookie mode', () => {
  const { t } = membersForFile(knownDeviceOptions({ cookieMode: true }));
  beforeEach(async () => void (await member(t, ADA)));

  const cookies = (headers: Record<string, unknown>): string[] => (headers['set-cookie'] as string[] | undefined) ?? [];
  const deviceCookie = (headers: Record<string, unknown>): string | undefined =>
    cookies(headers).find((cookie) => cookie.startsWith('__Host-refresh.device='));

  it('keeps its token in a cookie that is HttpOnly, SameSite=Strict and Secure, for 400 days', async () => {
    const { body, headers } = await t.login(ADA).expect(200);
    expect(Object.keys(body).toSorted()).toEqual(['access_token', 'expires_in', 'token_type']);
    const [pair, ...attributes] = deviceCookie(headers)!.split('; ');
    expect(pair).toMatch(/^__Host-refresh\.device=[0-9a-f]{64}\.[0-9a-f]{64}$/);
    expect(attributes.toSorted()).toEqual(['HttpOnly', 'Max-Age=34560000', 'Path=/', 'SameSite=Strict', 'Secure']);
  });

  it('is known with the cookie, which stays after a logout', async () => {
    const started = t.recorded(SessionStarted);
    const { body, headers } = await t.login(ADA).expect(200);
    const [pair] = deviceCookie(headers)!.split('; ');
    const out = await t.call('post', '/auth/logout', body.access_token).set('Cookie', pair!).expect(204);
    expect(deviceCookie(out.headers)).toBeUndefined();
    const again = await t.login(ADA).set('Cookie', pair!).expect(200);
    expect(deviceCookie(again.headers)).toContain(pair);
    const tampered = pair!.replace(/=(.)/, (_, first: string) => `=${first === '0' ? '1' : '0'}`);
    await t.login(ADA).set('Cookie', tampered).expect(200);
    await t.login(ADA).set('Cookie', `${pair}; ${pair}`).expect(200);
    await t.login(ADA).set(DEVICE_HEADER, pair!.split('=')[1]!).expect(200);
    expect(started.map(({ device }) => device)).toEqual(['new', 'known', 'new', 'new', 'new']);
  });
});

describe('without features.knownDevices', () => {
  const { t } = membersForFile();

  it('no device is recorded, and there are no routes', async () => {
    await member(t, ADA);
    const started = t.recorded(SessionStarted);
    const { body } = await t.login(ADA).set(DEVICE_HEADER, 'x').expect(200);
    expect(body).not.toHaveProperty('device_token');
    expect(started[0]!.device).toBeNull();
    expect(await deviceRows(t)).toEqual([]);
    await t.get('/auth/devices', body.access_token).expect(404);
    await t.http.post('/auth/sessions/report').send({ token: 'x' }).expect(404);
    await expect(t.auth.knownDevices.list({ headers: {} })).rejects.toMatchObject({
      cause: { message: expect.stringContaining('features.knownDevices') },
    });
  });
});
