import { AccountReleased, type AuthModuleOptions } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { TestApp } from '../support/hosts/app';
import { UNLIMITED } from '../support/hosts/host.module';
import { ORIGIN, PASSKEYS, PasskeyApp } from '../support/flows/passkeys';
import { CONFIRMATION_HEADER, confirmPassword } from '../support/flows/step-up';
import { codeOf } from '../support/flows/two-factor';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const REQUIRED = { message: 'The code field is required.', errors: { code: ['The code field is required.'] } };

const OPTIONS: Partial<AuthModuleOptions> = {
  features: { twoFactor: true, lockout: true },
  confirm: { factors: 'all' },
  lockout: { maxAttempts: 3 },
};
const app = PasskeyApp.forFile(OPTIONS);
const { t } = app;
let token: string;

const importTotp = () => t.auth.twoFactor.importFactor('1', { secret: SECRET });
const confirm = (body: object = {}) => confirmPassword(t, token, { password: PASSWORD, ...body });
const right = () => ({ code: codeOf(t, SECRET) });
const addPasskey = async (): Promise<SoftAuthenticator> => {
  const device = new SoftAuthenticator(ORIGIN);
  const { body } = await confirm().expect(200);
  await app.enrol({ access_token: token, refresh_token: '', expires_in: 0, proof: body.confirmation_token }, device);
  return device;
};
const methods = async (): Promise<string> =>
  (await t.call('delete', '/auth/two-factor', token).expect(423)).headers['x-svc-confirmation-methods']!;
const counted = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    (await t.database.query('SELECT purpose, attempts FROM svc_lockouts ORDER BY purpose')).map(
      ({ purpose, attempts }: { purpose: string; attempts: number }) => [purpose, Number(attempts)],
    ),
  );

beforeEach(async () => {
  token = (await t.auth.startSession('1', { amr: ['pwd'] })).accessToken;
});

describe('a confirmation of users who have two factors', () => {
  it('needs the password alone without a second factor, also with a pending one', async () => {
    expect(await methods()).toBe('password');
    const { body } = await confirm().expect(200);
    const proof = body.confirmation_token;
    await t.call('post', '/auth/two-factor', token).set(CONFIRMATION_HEADER, proof).expect(200);
    await confirm().expect(200);
  });

  it('needs the password and a code, and the code is used up', async () => {
    await importTotp();
    expect(await methods()).toBe('password+otp');
    const code = right();
    const { body } = await confirm(code).expect(200);
    await t.call('delete', '/auth/two-factor', token).set(CONFIRMATION_HEADER, body.confirmation_token).expect(204);
    await importTotp();
    await confirm(code).expect(422, /"code":\[/);
  });

  it('names the missing code before it checks or counts anything', async () => {
    await importTotp();
    for (const body of [{}, { code: '' }, { password: 'wrong' }]) {
      expect((await confirm(body).expect(422)).body).toEqual(REQUIRED);
    }
    expect(await counted()).toEqual({});
  });

  it('accepts a recovery code, once, and refuses both kinds together', async () => {
    await importTotp();
    const [recovery_code] = await t.auth.twoFactor.replaceRecoveryCodes('1');
    const { body } = await confirm({ recovery_code, ...right() }).expect(422);
    expect(Object.keys(body.errors)).toEqual(['code', 'recovery_code']);
    await confirm({ recovery_code }).expect(200);
    await confirm({ recovery_code }).expect(422, /"code":\[/);
    expect((await t.auth.twoFactor.recoveryCodeCount('1')).remaining).toBe(7);
  });

  it('uses no code up with a wrong password', async () => {
    await importTotp();
    const [recovery_code] = await t.auth.twoFactor.replaceRecoveryCodes('1');
    await confirm({ password: 'wrong', recovery_code }).expect(422, /"password":\[/);
    await confirm({ password: 'wrong', ...right() }).expect(422, /"password":\[/);
    expect((await t.auth.twoFactor.recoveryCodeCount('1')).remaining).toBe(8);
    await confirm(right()).expect(200);
  });

  it('counts failures of each factor for its own lock, and a success clears both', async () => {
    await importTotp();
    await confirm({ password: 'wrong', ...right() }).expect(422);
    await confirm({ code: '000000' }).expect(422, /"code":\[/);
    // The attempt with the right password stays counted until both factors are right.
    expect(await counted()).toEqual({ confirm: 2, two_factor: 1 });
    const released = t.recorded(AccountReleased);
    await confirm(right()).expect(200);
    expect(await counted()).toEqual({});
    expect(released.map(({ purpose }) => purpose).toSorted()).toEqual(['confirm', 'two_factor']);
  });

  it('is locked after too many wrong codes, and a recovery code still works', async () => {
    await importTotp();
    const [recovery_code] = await t.auth.twoFactor.replaceRecoveryCodes('1');
    for (let i = 0; i < 3; i++) {
      await confirm({ code: '000000' }).expect(422);
      await t.database.query("DELETE FROM svc_lockouts WHERE purpose = 'confirm'");
    }
    await confirm(right()).expect(423, /"code":\[/);
    await confirm({ recovery_code }).expect(200);
  });

  it('needs a passkey of a user who has one and no codes: it combines two factors', async () => {
    const device = await addPasskey();
    expect(await methods()).toBe('passkey');
    const { body } = await confirm().expect(422);
    expect(body.errors).toEqual({ password: ['Please confirm with your passkey.'] });
    expect(await counted()).toEqual({});
    const answer = await app.answer(device);
    await t.call('post', '/auth/confirm-passkey', token).send(answer).expect(200);
    await importTotp();
    expect(await methods()).toBe('password+otp, passkey');
    await confirm(right()).expect(200);
    await t
      .call('post', '/auth/confirm-passkey', token)
      .send(await app.answer(device))
      .expect(200);
  });

  it('limits wrong codes by the limit of the login challenge', async () => {
    const limited = await PasskeyApp.start({
      ...OPTIONS,
      features: { twoFactor: true, lockout: false },
      rateLimits: { ...UNLIMITED, twoFactor: { maxAttempts: 2 } },
    });
    await limited.t.auth.twoFactor.importFactor('1', { secret: SECRET });
    const { accessToken } = await limited.t.auth.startSession('1', { amr: ['pwd'] });
    const send = (code: string) => confirmPassword(limited.t, accessToken, { password: PASSWORD, code });
    for (const status of [422, 422, 429]) await send('000000').expect(status, /"code":\[/);
    await send(codeOf(limited.t, SECRET)).expect(429);
    await limited.stop();
  });
});

describe('a recent sign-in, where it counts as a confirmation and two factors are needed', () => {
  const own = PasskeyApp.forFile({ ...OPTIONS, confirm: { factors: 'all', afterLogin: true } });
  const status = async (amr: string[]): Promise<number> => {
    const { accessToken } = await own.t.auth.startSession('1', { amr });
    return (await own.t.call('post', '/auth/two-factor/recovery-codes', accessToken)).status;
  };

  it('counts if it used two factors, or if the user has only one', async () => {
    expect(await status(['pwd'])).toBe(409);
    await own.t.auth.twoFactor.importFactor('1', { secret: SECRET });
    expect([await status(['pwd']), await status(['pwd', 'otp']), await status(['webauthn'])]).toEqual([423, 200, 200]);
  });
});

describe('the option confirm.factors', () => {
  const start = (options: Partial<AuthModuleOptions>) => TestApp.start({ options });

  it('asks for one factor by default', async () => {
    const other = await start({ features: { twoFactor: true } });
    await other.person(ADA);
    await other.auth.twoFactor.importFactor('1', { secret: SECRET });
    const { accessToken } = await other.auth.startSession('1', { amr: ['pwd'] });
    await confirmPassword(other, accessToken).expect(200);
    await other.stop();
  });

  it('has two values, and needs passkeys that verify their users', async () => {
    await expect(start({ confirm: { factors: 'both' as never } })).rejects.toThrow(
      /confirm\.factors \(SVC_CONFIRM_FACTORS\) is "both"\. Use one or all\./,
    );
    await expect(
      start({
        features: { passkeys: true },
        passkeys: { ...PASSKEYS.passkeys, userVerification: 'preferred' },
        confirm: { factors: 'all' },
      }),
    ).rejects.toThrow(/only one factor without user verification/);
  });
});
