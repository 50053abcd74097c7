import { SessionStarted } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { hash } from 'node:crypto';
import type { Response } from 'supertest';
import { claimsOf } from '../support/hosts/app';
import { mailedCode, sendCode } from '../support/flows/email-code';
import { eventually } from '../support/runtime/eventually';
import {
  DEVICE_HEADER,
  REPORT_URL,
  deviceRows,
  knownDeviceOptions,
  newDevice,
  report,
} from '../support/flows/known-devices';
import { linkIn, member, membersForFile } from '../support/hosts/members';
import { ORIGIN, PASSKEYS, PasskeyApp } from '../support/flows/passkeys';
import { codeOf, completeChallenge, enrol, startChallenge } from '../support/flows/two-factor';
import { NEW_PASSWORD, UnverifiedAccount } from '../support/hosts/unverified-account';
import { ADA } from '../support/hosts/user-entities';

const verified = { emailVerifiedAt: new Date() };

describe('the mail about a sign-in on a new device', () => {
  const { t, mailbox } = membersForFile(
    knownDeviceOptions({
      passkeys: PASSKEYS.passkeys,
      features: { twoFactor: true, passkeys: true, emailCode: true },
    }),
  );
  const reports = () => mailbox.mails.filter(({ text }) => text.includes(REPORT_URL));

  type SignIn = (device?: string) => Promise<Response>;

  const on = (request: ReturnType<typeof sendCode>, device?: string) =>
    device === undefined ? request : request.set(DEVICE_HEADER, device);

  const withPassword = async (): Promise<SignIn> => async (device) => on(t.login(ADA), device);

  const withCode = async (): Promise<SignIn> => async (device) => on(sendCode(t, await mailedCode(t, mailbox)), device);

  const withPasskey = async (): Promise<SignIn> => {
    const app = new PasskeyApp(t);
    const authenticator = new SoftAuthenticator(ORIGIN);
    await app.enrol(await app.confirmed(), authenticator);
    return async (device) => {
      const { ceremony_id, credential } = await app.answer(authenticator);
      return on(app.login(ceremony_id, credential), device);
    };
  };

  const withSecondFactor = async (): Promise<SignIn> => {
    const { secret } = await enrol(t);
    return async (device) => {
      t.clock.advance(30);
      return on(completeChallenge(t, { challenge_token: await startChallenge(t), code: codeOf(t, secret) }), device);
    };
  };

  const withCodeAndSecondFactor = async (): Promise<SignIn> => {
    const { secret } = await enrol(t);
    return async (device) => {
      t.clock.advance(30);
      const { challenge_token } = (await sendCode(t, await mailedCode(t, mailbox)).expect(200)).body;
      return on(completeChallenge(t, { challenge_token, code: codeOf(t, secret) }), device);
    };
  };

  it.each<[string, () => Promise<SignIn>]>([
    ['a password', withPassword],
    ['a mailed code', withCode],
    ['a passkey', withPasskey],
    ['a password and a second factor', withSecondFactor],
    ['a mailed code and a second factor', withCodeAndSecondFactor],
  ])('is sent after a sign-in with %s, and its link ends that session and the next one', async (_, prepare) => {
    await member(t, ADA, verified);
    await newDevice(t);
    const signIn = await prepare();
    // The first device of the user has no mail.
    const before = (await deviceRows(t)).length - 1;
    await eventually(async () => reports().length === before);
    const started = t.recorded(SessionStarted);
    const { status, body } = await signIn();
    expect([status, started.map(({ device }) => device)]).toEqual([200, ['new']]);
    await eventually(async () => reports().length > before);
    const again = await signIn(body.device_token);
    expect([again.status, started.map(({ device }) => device)]).toEqual([200, ['new', 'known']]);
    await t.calm();
    expect(reports()).toHaveLength(before + 1);
    await report(t, linkIn(reports().at(-1)!).searchParams.get('token')).expect(200);
    for (const session of [body, again.body]) await t.get('/private', session.access_token).expect(401);
  });

  it('is not sent for the session of a registration, but for the next one', async () => {
    const form = { name: 'Bob', email: 'bob@example.com', password: NEW_PASSWORD, password_confirmation: NEW_PASSWORD };
    await t.http.post('/auth/register').send(form).expect(200);
    await t.calm();
    expect(reports()).toEqual([]);
    await t.login('bob@example.com', NEW_PASSWORD).expect(200);
    await eventually(async () => reports().length > 0);
    await t.calm();
    expect(reports()).toHaveLength(1);
  });
});

describe('the devices of an account', () => {
  const account = UnverifiedAccount.forFile(knownDeviceOptions({ features: { emailCode: true } }));
  const { t } = account;

  it.each<[string, () => Promise<unknown>]>([
    ['a reset', () => account.reset()],
    ['a mailed code', async () => sendCode(t, await mailedCode(t, account.mailbox)).expect(200)],
  ])('are forgotten when %s proves an address that was not verified', async (_, prove) => {
    const hashes = async () => (await deviceRows(t)).map(({ device_hash }) => device_hash);
    const ofStranger = hash('sha256', (await newDevice(t)).slice(0, 64), 'hex');
    expect(await hashes()).toEqual([ofStranger]);
    await t.calm();
    account.mailbox.clear();
    await prove();
    expect(await hashes()).not.toContain(ofStranger);
    // The row remains, so the first sign-in of the owner is not the first one of the account.
    expect((await hashes())[0]).toBeNull();
  });

  it('stay known after a reset with a verified address', async () => {
    await t.database.query('UPDATE members SET email_verified_at = now()');
    const device = await newDevice(t);
    await t.calm();
    account.mailbox.clear();
    await account.reset();
    const started = t.recorded(SessionStarted);
    const { body } = await t.login(ADA, NEW_PASSWORD).set(DEVICE_HEADER, device).expect(200);
    expect([started.map((session) => session.device), claimsOf(body.access_token).amr]).toEqual([['known'], ['pwd']]);
  });
});
