import { Controller, Get, UseGuards } from '@nestjs/common';
import { Authenticated, FactorGuard, RequireConfirmation, RequireFactor } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { TestApp } from '../support/hosts/app';
import { ORIGIN, PASSKEYS, PasskeyApp } from '../support/flows/passkeys';
import { routesOf } from '../support/views/routes';
import { codeOf, completeChallenge, enrol, startChallenge } from '../support/flows/two-factor';
import { ADA } from '../support/hosts/user-entities';

@Controller('factors')
class FactorController {
  @Get('any')
  @RequireFactor('any')
  any() {
    return {};
  }

  @Get('otp')
  @RequireFactor('otp')
  otp() {
    return {};
  }

  @Get('webauthn')
  @UseGuards(FactorGuard('webauthn'))
  webauthn() {
    return {};
  }

  @Get('confirmed')
  @RequireConfirmation()
  @RequireFactor('any')
  confirmed() {
    return {};
  }
}

@Controller('both-factors')
@RequireFactor('otp')
class BothController {
  @Get()
  @RequireFactor('webauthn')
  both() {
    return {};
  }
}

@Controller('staff-factor')
@Authenticated('admin')
class StaffController {
  @Get()
  @RequireFactor('any')
  staff() {
    return {};
  }
}

const OPTIONS = { ...PASSKEYS, features: { ...PASSKEYS.features, twoFactor: true } };
const t = TestApp.forFile({ options: OPTIONS, controllers: [FactorController, BothController, StaffController] });
const app = new PasskeyApp(t);

const challengeOf = (values: string): string =>
  `Bearer error="insufficient_user_authentication", acr_values="${values}"`;
const statuses = async (token: string): Promise<number[]> =>
  Promise.all(['any', 'otp', 'webauthn'].map(async (path) => (await t.get(`/factors/${path}`, token)).status));

beforeEach(async () => void (await t.person(ADA)));

describe('a route that requires a second factor', () => {
  it('refuses a session with the password alone, with 401 and the accepted factors (RFC 9470)', async () => {
    const { access_token } = await t.session();
    for (const [path, values] of [
      ['any', 'webauthn otp'],
      ['otp', 'otp'],
      ['webauthn', 'webauthn'],
    ]) {
      const { body, headers } = await t.get(`/factors/${path}`, access_token).expect(401);
      const message = 'Please sign in with a second factor to continue.';
      expect(body).toEqual({ message, reason: 'factor_required' });
      expect(headers['www-authenticate']).toBe(challengeOf(values!));
    }
  });

  it('refuses a request without a token as every route does', async () => {
    const { headers } = await t.get('/factors/any').expect(401);
    expect(headers['www-authenticate']).toBe('Bearer');
  });

  it('accepts a session that began with a code, also after a refresh, and none that began before the enrolment', async () => {
    const { secret, token } = await enrol(t);
    expect(await statuses(token)).toEqual([401, 401, 401]);
    const challenge_token = await startChallenge(t);
    const { body } = await completeChallenge(t, { challenge_token, code: codeOf(t, secret) }).expect(200);
    expect(await statuses(body.access_token)).toEqual([200, 200, 401]);
    const renewed = await t.refresh(body.refresh_token).expect(200);
    expect(await statuses(renewed.body.access_token)).toEqual([200, 200, 401]);
  });

  it('accepts a sign-in with a passkey, which combines two factors', async () => {
    const device = new SoftAuthenticator(ORIGIN);
    await app.enrol(await app.confirmed(), device);
    const { access_token } = await app.signIn(device);
    expect(await statuses(access_token)).toEqual([200, 401, 200]);
  });

  it('needs both factors if the controller and the handler require different ones', async () => {
    const both = await t.auth.startSession('1', { amr: ['pwd', 'otp', 'webauthn'] });
    await t.get('/both-factors', both.accessToken).expect(200);
    const one = await t.auth.startSession('1', { amr: ['pwd', 'webauthn'] });
    const { headers } = await t.get('/both-factors', one.accessToken).expect(401);
    expect(headers['www-authenticate']).toBe(challengeOf('otp'));
  });

  it('refuses pinned sessions, sessions of an actor, and sessions without authentication methods', async () => {
    const amr = ['pwd', 'otp', 'webauthn'];
    for (const { accessToken } of [
      await t.auth.startSession('1', { amr }, ['orders.read']),
      await t.auth.startSession('1', { amr }, ['*']),
      await t.auth.startSession('1', { amr, claims: { act: { sub: '2' } } }),
      await t.auth.startSession('1'),
    ])
      expect(await statuses(accessToken)).toEqual([401, 401, 401]);
  });

  it('refuses before it asks for a confirmation', async () => {
    await t.get('/factors/confirmed', (await t.session()).access_token).expect(401);
    const { accessToken } = await t.auth.startSession('1', { amr: ['pwd', 'otp'] });
    await t.get('/factors/confirmed', accessToken).expect(423);
  });

  it('goes by the session of its own guard', async () => {
    await t.person(ADA, 'admin');
    const { accessToken } = await t.auth.startSession('1', { amr: ['pwd', 'otp'] });
    await t.get('/staff-factor', accessToken).expect(401, /Authentication is required/);
    const staff = await t.auth.guard('admin').startSession('1', { amr: ['pwd', 'otp'] });
    await t.get('/staff-factor', staff.accessToken).expect(200);
  });

  it('knows no other factor', () => {
    expect(() => RequireFactor('sms' as never)).toThrow(/know otp, webauthn and any, not "sms"/);
    expect(() => FactorGuard(undefined as never)).toThrow(/not "undefined"/);
  });
});

describe('a passkey that need not verify its user', () => {
  const other = TestApp.forFile({
    options: { ...OPTIONS, passkeys: { ...PASSKEYS.passkeys, userVerification: 'preferred' } },
    controllers: [FactorController],
  });

  it('is one factor: alone it is not enough', async () => {
    await other.person(ADA);
    const status = async (amr: string[]): Promise<number> => {
      const { accessToken } = await other.auth.startSession('1', { amr });
      return (await other.get('/factors/any', accessToken)).status;
    };
    expect([await status(['webauthn']), await status(['pwd', 'webauthn'])]).toEqual([401, 200]);
    expect(routesOf(other)).toContain('POST /auth/passkeys/login');
  });
});
