import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestApp } from '../support/hosts/app';
import { PASSKEYS } from '../support/flows/passkeys';
import { startMembers } from '../support/hosts/members';
import { routesOf } from '../support/views/routes';

const OF_EVERY_GUARD = [
  'DELETE sessions',
  'DELETE sessions/:svcSession',
  'DELETE sessions/others',
  'GET jwks',
  'GET sessions',
  'POST confirm-password',
  'POST login',
  'POST logout',
  'POST refresh',
];
/** Routes that only the default guard mounts. */
const OF_THE_DEFAULT_GUARD = ['DELETE account', 'GET account/export', 'POST password'];
/** Routes that `features.registration`, `features.passwordReset`, `features.emailVerification` and `features.emailCode` add to it. */
const LIFE = [
  'GET email/verify/:id/:hash',
  'HEAD email/verify/:id/:hash',
  'POST email/verification-notification',
  'POST email/verify/:id/:hash',
  'POST forgot-password',
  'POST login/code',
  'POST login/code/verify',
  'POST register',
  'POST reset-password',
];
/** Routes that `features.emailChange` adds to the default guard. `features.usernameChange` adds one where the email is not the identifier. */
const OF_EMAIL_CHANGE = ['POST email/change', 'POST email/change/confirm', 'POST email/change/undo'];
/** Routes that `features.twoFactor` adds to every guard, and to the default guard. */
const CHALLENGE = [
  'DELETE trusted-devices',
  'DELETE trusted-devices/:svcDevice',
  'GET trusted-devices',
  'POST two-factor-challenge',
  'POST two-factor-enrolment',
  'POST two-factor-enrolment/confirm',
];
const TWO_FACTOR = [
  'DELETE two-factor',
  'GET two-factor/recovery-codes',
  'POST two-factor',
  'POST two-factor/confirm',
  'POST two-factor/recovery-codes',
];
/** Routes that `features.passkeys` adds to the default guard. */
const OF_PASSKEYS = [
  'DELETE passkeys/:svcPasskey',
  'GET passkeys',
  'PATCH passkeys/:svcPasskey',
  'POST confirm-passkey',
  'POST passkeys',
  'POST passkeys/login',
  'POST passkeys/login-options',
  'POST passkeys/registration-options',
  'POST two-factor-enrolment/passkey',
  'POST two-factor-enrolment/passkey-options',
];
/** Routes that `features.passkeyRegistration` and `features.conditionalCreate` add to it. */
const OF_PASSWORDLESS = [
  'POST passkeys/conditional',
  'POST passkeys/conditional-options',
  'POST register/passkey',
  'POST register/passkey/options',
];
/** The route that `features.verificationByAddress` adds to it. */
const BY_ADDRESS = 'POST email/verification-request';
/** Routes that `features.knownDevices` adds to every guard. */
const OF_DEVICES = ['DELETE devices/:svcKnownDevice', 'GET devices', 'POST sessions/report'];
const at = (path: string, routes: string[]): string[] => routes.map((route) => route.replace(' ', ` /${path}/`));

describe('the mounted routes', () => {
  it('are these for every guard', async () => {
    const t = await TestApp.start();
    const ofDefault = [...OF_EVERY_GUARD, ...OF_THE_DEFAULT_GUARD];
    expect(routesOf(t)).toEqual([...at('auth', ofDefault), ...at('admin/auth', OF_EVERY_GUARD)].toSorted());
    await t.stop();
  });

  it('are these with every feature on', async () => {
    const passwordless = { passkeyRegistration: true, conditionalCreate: true };
    const more = {
      verificationByAddress: true,
      twoFactor: true,
      emailChange: true,
      knownDevices: true,
      emailCode: true,
      ...passwordless,
    };
    const features = { ...PASSKEYS.features, ...more };
    const { t } = await startMembers({ ...PASSKEYS, knownDevices: { mail: false }, features });
    const ofEvery = [...OF_EVERY_GUARD, ...CHALLENGE, ...OF_DEVICES];
    const ofDefault = [
      ...ofEvery,
      ...OF_THE_DEFAULT_GUARD,
      ...LIFE,
      ...OF_EMAIL_CHANGE,
      ...TWO_FACTOR,
      ...OF_PASSKEYS,
      ...OF_PASSWORDLESS,
      BY_ADDRESS,
    ];
    expect(routesOf(t)).toEqual([...at('auth', ofDefault), ...at('admin/auth', ofEvery)].toSorted());
    await t.stop();
  });

  it('are none when routes are off', async () => {
    const t = await TestApp.start({ options: { routes: false } });
    expect(routesOf(t)).toEqual([]);
    await t.person('ada@example.com');
    const { accessToken } = await t.auth.startSession(1);
    await t.get('/private', accessToken).expect(200);
    await t.stop();
  });

  it('are switched off by the text of a ConfigService, too', async () => {
    const none = await TestApp.start({ options: { routes: 'off' as never } });
    expect(routesOf(none)).toEqual([]);
    await none.stop();
    const some = await TestApp.start({ options: { features: { changePassword: 'FALSE' as never } } });
    expect(routesOf(some)).not.toContain('POST /auth/password');
    expect(routesOf(some)).toContain('POST /auth/confirm-password');
    await some.stop();
  });

  it('are below the configured paths, with or without slashes', async () => {
    const t = await TestApp.start({ options: { path: '/api/v1/auth/' } });
    await t.http.post('/api/v1/auth/login').send({}).expect(422);
    await t.http.post('/auth/login').send({}).expect(404);
    await t.stop();
  });

  it('answer on the configured host name only', async () => {
    const t = await TestApp.start({ options: { domain: 'login.example.com' } });
    await t.http.post('/auth/login').set('Host', 'login.example.com').send({}).expect(422);
    await t.http.post('/auth/login').set('Host', 'www.example.com').send({}).expect(404);
    await t.stop();
  });

  it('need a different path for each guard on Fastify, which does not route by host name', async () => {
    const options = {
      domain: 'api.example.com',
      guards: { admin: { path: 'auth', domain: 'admin.example.com' } },
    };
    await expect(TestApp.start({ options, fastify: true })).rejects.toThrow(
      /^The guards "admin" and "api" share a path/,
    );
    await (await TestApp.start({ options, fastify: false })).stop();
    await (await TestApp.start({ options: { ...options, routes: false }, fastify: true })).stop();
  });

  it('are all in docs/routes.md', () => {
    const page = readFileSync(join(__dirname, '../../docs/routes.md'), 'utf8');
    for (const route of [
      ...OF_EVERY_GUARD,
      ...OF_THE_DEFAULT_GUARD,
      ...LIFE,
      ...CHALLENGE,
      ...OF_DEVICES,
      ...TWO_FACTOR,
      ...OF_PASSKEYS,
      ...OF_PASSWORDLESS,
    ])
      expect(page).toContain(`\`${route.replace(' ', ' /').replace(/:svc\w+/, ':id')}\``);
  });

  it('answer other methods with 404 in JSON', async () => {
    const t = await TestApp.start();
    for (const path of ['/auth/login', '/auth/refresh', '/auth/logout']) {
      for (const method of ['get', 'put', 'patch'] as const) {
        const { headers } = await t.http[method](path).expect(404);
        expect(headers['content-type']).toMatch(/json/);
      }
    }
    await t.stop();
  });
});
