import { Logger } from '@nestjs/common';
import { MailFailed, SecurityStore, SessionEnded, SignInReported, StoreUnavailable } from '@svc/auth';
import { hash } from 'node:crypto';
import type { TestApp } from '../support/hosts/app';
import { eventually } from '../support/runtime/eventually';
import { whileStatementsFail } from '../support/faults/failing-statements';
import {
  DEVICE_HEADER,
  FIREFOX,
  REPORT_URL,
  deviceRows,
  knownDeviceOptions,
  newDevice,
  report,
  signInOn,
} from '../support/flows/known-devices';
import { type Mailbox, RESET_URL, linkIn, member, membersForFile } from '../support/hosts/members';
import { codeOf, completeChallenge, startChallenge } from '../support/flows/two-factor';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

const sha256 = (text: string): string => hash('sha256', text, 'hex');
const REPORTED = { status: 'sign-in-reported' };
const tokenIn = (mail: { text: string }): string => linkIn(mail as never).searchParams.get('token')!;
const isReset = ({ text }: { text: string }): boolean => text.includes(RESET_URL);

/** A user with a known device, and a sign-in of a stranger on a new one. */
async function withStranger(t: TestApp, mailbox: Mailbox) {
  const own = await signInOn(t);
  const stranger = await signInOn(t);
  const token = tokenIn(await mailbox.nth(1));
  return { own: own.body, stranger: stranger.body, token };
}

describe('the mail about a sign-in on a new device', () => {
  const { t, mailbox } = membersForFile(knownDeviceOptions({ appName: 'Acme' }));
  beforeEach(async () => void (await member(t, ADA)));

  it('is not sent for the first device of a user, nor for a known one', async () => {
    const device = await newDevice(t);
    await signInOn(t, device);
    await t.calm();
    expect(mailbox.mails).toEqual([]);
  });

  it('is sent for a device whose token a stranger has planted in the browser of the user before', async () => {
    await member(t, 'mallory@example.com');
    await newDevice(t);
    const planted = await newDevice(t, 'mallory@example.com');
    const { device_token: given } = (await signInOn(t, planted)).body;
    await mailbox.nth(1);
    // The stranger, who has the password.
    await signInOn(t, planted);
    await mailbox.nth(2);
    await signInOn(t, given);
    await t.calm();
    expect(mailbox.mails).toHaveLength(2);
  });

  it('has the time, the address, the device and the link', async () => {
    await newDevice(t);
    t.clock.advance(3600);
    await signInOn(t);
    const mail = await mailbox.nth(1);
    expect(mail).toMatchObject({ to: ADA, subject: expect.stringContaining('Acme') });
    const [, row] = await deviceRows(t);
    const time = row!.first_seen_at;
    expect(mail.text).toContain(
      `${String(time.getUTCHours()).padStart(2, '0')}:${String(time.getUTCMinutes()).padStart(2, '0')} UTC`,
    );
    for (const shown of ['Firefox, Linux', '127.0.0.1', `${REPORT_URL}?token=`, '7 days'])
      expect(mail.text).toContain(shown);
    expect(row!.link_hash).toBe(sha256(tokenIn(mail)));
  });

  it('is sent once, for concurrent sign-ins with one token', async () => {
    const device = await newDevice(t);
    await t.database.query('UPDATE svc_known_devices SET device_hash = NULL');
    await Promise.all(Array.from({ length: 5 }, () => signInOn(t, device)));
    await mailbox.nth(1);
    await t.calm();
    expect(mailbox.mails).toHaveLength(1);
  });

  it('is sent at most five times in an hour to one account', async () => {
    for (let i = 0; i < 8; i++) await newDevice(t);
    await mailbox.nth(5);
    await t.calm();
    expect(mailbox.mails).toHaveLength(5);
  });

  it('is still sent after the user has forgotten all devices', async () => {
    const { body } = await signInOn(t);
    const [{ id: device }] = (await t.get('/auth/devices', body.access_token).expect(200)).body.data;
    await t.call('delete', `/auth/devices/${device}`, body.access_token).expect(204);
    await newDevice(t);
    expect(tokenIn(await mailbox.nth(1))).toMatch(/^[0-9a-f]{64}$/);
  });

  it('a failure of the mail server or of the security store does not concern the sign-in', async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const failed = t.recorded(MailFailed);
    await newDevice(t);
    mailbox.deliver = () => Promise.reject(new Error('no mail server'));
    await signInOn(t);
    await eventually(async () => failed.length === 1);
    mailbox.clear();
    const store = t.app.get(SecurityStore);
    const count = store.count.bind(store);
    const spy = jest.spyOn(store, 'count').mockImplementation(async (limits, pending) => {
      if (limits.some(({ key }) => key.includes('mail-newSignIn'))) throw new StoreUnavailable('Redis');
      return count(limits, pending);
    });
    await signInOn(t);
    await eventually(async () => failed.length === 2);
    spy.mockRestore();
    expect(failed.map(({ kind }) => kind)).toEqual(['newSignIn', 'newSignIn']);
    expect(mailbox.mails).toEqual([]);
  });

  it('is sent at the next sign-in on the device, about that one, if it could not be prepared', async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    await newDevice(t);
    const failed = t.recorded(MailFailed);
    const store = t.app.get(SecurityStore);
    const count = store.count.bind(store);
    const spy = jest.spyOn(store, 'count').mockImplementation(async (limits, pending) => {
      if (limits.some(({ key }) => key.includes('mail-newSignIn'))) throw new StoreUnavailable('Redis');
      return count(limits, pending);
    });
    const device = await newDevice(t);
    await eventually(async () => failed.length === 1);
    spy.mockRestore();
    // Longer than the link is valid.
    t.clock.advance(8 * 86_400);
    const { body } = await signInOn(t, device);
    await report(t, tokenIn(await mailbox.nth(1))).expect(200);
    await t.get('/private', body.access_token).expect(401);
    // The report has forgotten the device.
    await signInOn(t, device);
    await eventually(async () => mailbox.mails.filter((mail) => !isReset(mail)).length === 2);
  });
});

describe('the link in the mail', () => {
  const { t, mailbox } = membersForFile(knownDeviceOptions());
  beforeEach(async () => void (await member(t, ADA)));

  it('ends all sessions, forgets the device, and mails a reset link', async () => {
    const [ended, reported] = [t.recorded(SessionEnded), t.recorded(SignInReported)];
    const { own, stranger, token } = await withStranger(t, mailbox);
    const { body, headers } = await report(t, token).expect(200);
    expect(body).toEqual(REPORTED);
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private' });
    await t.get('/private', stranger.access_token).expect(401);
    await t.refresh(stranger.refresh_token).expect(401);
    await t.get('/private', own.access_token).expect(401);
    expect(ended.map(({ reason }) => reason)).toEqual(['reported', 'reported']);
    const [, { session_id: familyId }] = (await deviceRows(t)) as [unknown, { session_id: string }];
    expect(reported).toEqual([{ userId: expect.any(String), familyId, guard: 'api' }]);
    expect(isReset(await mailbox.nth(2))).toBe(true);
    const rows = await deviceRows(t);
    expect(rows.map(({ device_hash, user_agent }) => [device_hash, user_agent])).toEqual(rows.map(() => [null, null]));
    expect(rows.map(({ reported_at }) => reported_at !== null)).toEqual([false, true]);
    await signInOn(t, stranger.device_token);
    await mailbox.nth(3);
    expect(isReset(mailbox.mails[2]!)).toBe(false);
  });

  it('ends the later sessions of the stranger on the same device, which cause no further mail', async () => {
    const { stranger, token } = await withStranger(t, mailbox);
    const later = (await signInOn(t, stranger.device_token)).body;
    await t.call('delete', '/auth/sessions/others', later.access_token).expect(204);
    await report(t, token).expect(200);
    await t.get('/private', later.access_token).expect(401);
    await t.refresh(later.refresh_token).expect(401);
    await mailbox.nth(2);
    await t.calm();
    expect(mailbox.mails.map(isReset)).toEqual([false, true]);
  });

  it('the mailed reset link replaces the password', async () => {
    const { token } = await withStranger(t, mailbox);
    await report(t, token).expect(200);
    const { searchParams } = linkIn(await mailbox.nth(2));
    const password = 'another horse entirely';
    const body = { ...Object.fromEntries(searchParams), password, password_confirmation: password };
    await t.http.post('/auth/reset-password').send(body).expect(200);
    await t.login(ADA).expect(422);
    await t.login(ADA, password).expect(200);
  });

  it('is answered alike when it is used again, and has no further effect', async () => {
    const { token } = await withStranger(t, mailbox);
    const first = await report(t, token).expect(200);
    await mailbox.nth(2);
    t.clock.advance(3600);
    const reported = t.recorded(SignInReported);
    const second = await report(t, token).expect(200);
    expect(second.text).toBe(first.text);
    await t.calm();
    expect([mailbox.mails.length, reported]).toEqual([2, []]);
  });

  it('mails one reset link for concurrent requests, and reports once', async () => {
    const reported = t.recorded(SignInReported);
    const { token } = await withStranger(t, mailbox);
    const answers = await Promise.all(Array.from({ length: 6 }, () => report(t, token)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    await mailbox.nth(2);
    await t.calm();
    expect([mailbox.mails.length, reported.length]).toEqual([2, 1]);
  });

  it('works when the session has already ended, and when the device was forgotten', async () => {
    const { stranger, token } = await withStranger(t, mailbox);
    const { data } = (await t.get('/auth/devices', stranger.access_token).expect(200)).body;
    for (const { id } of data) await t.call('delete', `/auth/devices/${id}`, stranger.access_token).expect(204);
    await t.call('post', '/auth/logout', stranger.access_token).expect(204);
    await report(t, token).expect(200);
    expect(isReset(await mailbox.nth(2))).toBe(true);
  });

  it('is not taken away by many sign-ins on new devices', async () => {
    const { stranger, token } = await withStranger(t, mailbox);
    await t.database.query(
      `INSERT INTO svc_known_devices (id, guard, user_id, device_hash, session_id, first_seen_at, last_seen_at)
       SELECT gen_random_uuid(), 'api', user_id, 'x' || n, gen_random_uuid(), now() + interval '1 hour', now() + interval '1 hour'
         FROM generate_series(1, 60) n, (SELECT user_id FROM svc_known_devices LIMIT 1) one`,
    );
    await newDevice(t);
    await report(t, token).expect(200);
    await t.get('/private', stranger.access_token).expect(401);
  });

  it('is refused with 422 when it is invalid or has expired, and changes nothing', async () => {
    const { stranger, token } = await withStranger(t, mailbox);
    const refused = await report(t, 'f'.repeat(64)).expect(422);
    expect(refused.body).toEqual({
      message:
        'This link is not valid any more. If you do not know the sign-in, reset your password and end all sessions.',
      errors: { token: [expect.stringContaining('not valid any more')] },
    });
    for (const garbage of [undefined, null, 7, '', {}, [token], '\0', `${token}0`, token.toUpperCase()])
      expect([garbage, (await report(t, garbage)).status]).toEqual([garbage, 422]);
    await t.http.get(`/auth/sessions/report?token=${token}`).expect(404);
    expect((await t.http.get(`/admin/auth/sessions/report?token=${token}`)).status).toBe(404);
    await report(t, token, 'admin').expect(422);
    await t.get('/private', stranger.access_token).expect(200);
    t.clock.advance(7 * 86_400 + 1);
    expect((await report(t, token).expect(422)).text).toBe(refused.text);
    await t.calm();
    expect(mailbox.mails).toHaveLength(1);
  });

  it('can be used again after a request that was answered 503', async () => {
    const { stranger, token } = await withStranger(t, mailbox);
    await whileStatementsFail(t, 'UPDATE ON svc_known_devices', async () => {
      await report(t, token).expect(503);
    });
    await report(t, token).expect(200);
    await t.get('/private', stranger.access_token).expect(401);
  });

  it('has a server call with the same effect', async () => {
    const { stranger, token } = await withStranger(t, mailbox);
    await t.auth.knownDevices.report(token, { headers: {} });
    await t.get('/private', stranger.access_token).expect(401);
    await expect(t.auth.knownDevices.report('x', { headers: {} })).rejects.toMatchObject({ code: 'report_failed' });
  });
});

describe('at an extra guard', () => {
  const { t, mailbox } = membersForFile(knownDeviceOptions());
  const ROOT = 'root@example.com';

  it('the link names the guard, and works at its route only', async () => {
    await t.person(ROOT, 'admin');
    await signInOn(t, undefined, ROOT, 'admin');
    const { body } = await signInOn(t, undefined, ROOT, 'admin');
    const { searchParams } = linkIn(await mailbox.nth(1));
    expect(searchParams.get('guard')).toBe('admin');
    const token = searchParams.get('token');
    await report(t, token).expect(422);
    await t.get('/staff', body.access_token).expect(200);
    await report(t, token, 'admin').expect(200);
    await t.get('/staff', body.access_token).expect(401);
  });
});

describe('with knownDevices.mail off', () => {
  const { t, mailbox } = membersForFile(
    knownDeviceOptions({ knownDevices: { mail: false, frontendUrl: undefined }, features: { passwordReset: false } }),
  );

  it('devices are recorded without a mail, and password reset is not needed', async () => {
    const failed = t.recorded(MailFailed);
    await member(t, ADA);
    await newDevice(t);
    const { body } = await signInOn(t);
    const { data } = (await t.get('/auth/devices', body.access_token).expect(200)).body;
    expect(data).toHaveLength(2);
    await report(t, 'f'.repeat(64)).expect(422);
    // The mail would have been prepared during these requests.
    await t.calm();
    expect([mailbox.mails, failed]).toEqual([[], []]);
    expect((await deviceRows(t)).map(({ link_hash }) => link_hash)).toEqual([null, null]);
  });
});

describe('the list of devices', () => {
  const { t } = membersForFile(knownDeviceOptions());
  let id: string;
  beforeEach(async () => void (id = await member(t, ADA)));

  it('names the devices of the caller, the last sign-in first, and the one of the request', async () => {
    const first = await newDevice(t);
    t.clock.advance(60);
    const { body } = await signInOn(t);
    const listed = await t.get('/auth/devices', body.access_token).set(DEVICE_HEADER, first).expect(200);
    expect(listed.headers).toMatchObject({ 'cache-control': 'no-store, private' });
    expect(listed.body.data).toEqual(
      [false, true].map((current) => ({
        id: expect.any(String),
        first_seen_at: expect.stringMatching(/^\d{4}-.*Z$/),
        last_seen_at: expect.any(String),
        user_agent: FIREFOX,
        current,
      })),
    );
    const flow = await t.auth.knownDevices.list({
      headers: { authorization: `Bearer ${body.access_token}`, [DEVICE_HEADER]: body.device_token },
    });
    expect(flow.map(({ current }) => current)).toEqual([true, false]);
  });

  it('a device that was forgotten is new at its next sign-in; its session goes on', async () => {
    const { body } = await signInOn(t);
    const [{ id: device }] = (await t.get('/auth/devices', body.access_token).expect(200)).body.data;
    await t.call('delete', `/auth/devices/${device}`, body.access_token).expect(204);
    await t.call('delete', `/auth/devices/${device}`, body.access_token).expect(204);
    expect((await t.get('/auth/devices', body.access_token).expect(200)).body.data).toEqual([]);
    const [row] = await deviceRows(t);
    expect([row!.device_hash, row!.user_agent]).toEqual([null, null]);
    await signInOn(t, body.device_token);
    expect(await deviceRows(t)).toHaveLength(2);
  });

  it('a user cannot list or forget a device of another user, nor one of another guard', async () => {
    await member(t, 'bob@example.com');
    await newDevice(t, 'bob@example.com');
    const { body } = await signInOn(t);
    await t.database.query(
      `INSERT INTO svc_known_devices (id, guard, user_id, device_hash, session_id, first_seen_at, last_seen_at)
       VALUES (gen_random_uuid(), 'admin', $1, 'x', gen_random_uuid(), now(), now())`,
      [id],
    );
    expect((await t.get('/auth/devices', body.access_token).expect(200)).body.data).toHaveLength(1);
    for (const { id: any } of (await deviceRows(t)).filter(({ user_id, guard }) => user_id !== id || guard !== 'api'))
      await t.call('delete', `/auth/devices/${any}`, body.access_token).expect(204);
    for (const garbage of ['none', '%00', "'", 'x'.repeat(500)])
      expect((await t.call('delete', `/auth/devices/${garbage}`, body.access_token)).status).toBe(204);
    expect((await deviceRows(t)).every(({ device_hash }) => device_hash !== null)).toBe(true);
    await t.get('/auth/devices').expect(401);
    await t.http.delete('/auth/devices/none').expect(401);
  });
});

describe('a report of a user with a second factor', () => {
  const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
  const { t, mailbox } = membersForFile(
    knownDeviceOptions({ features: { twoFactor: true }, twoFactor: { trustedDeviceDays: 30 } }),
  );

  it('ends the trust in the device of the stranger', async () => {
    const id = await member(t, ADA, { emailVerifiedAt: new Date(0) });
    await t.auth.twoFactor.importFactor(id, { secret: SECRET });
    const signIn = async () => {
      const answer = { challenge_token: await startChallenge(t), code: codeOf(t, SECRET), trust_device: true };
      const { body } = await completeChallenge(t, answer).expect(200);
      t.clock.advance(30);
      return body;
    };
    await signIn();
    const { trusted_device_token } = await signIn();
    await report(t, tokenIn(await mailbox.nth(1))).expect(200);
    const login = t.http.post('/auth/login').send({ email: ADA, password: PASSWORD, trusted_device_token });
    expect((await login.expect(200)).body).toMatchObject({ two_factor: true });
  });
});
