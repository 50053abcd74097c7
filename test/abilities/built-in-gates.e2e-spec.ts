import type { Response } from 'supertest';
import { type AuthModuleOptions, TokenAbilityDenied } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { type TestApp, claimsOf } from '../support/hosts/app';
import { forge } from '../support/clients/forge';
import { ADMIN_AUDIENCE } from '../support/hosts/host.module';
import { member, startMembers } from '../support/hosts/members';
import { PASSKEYS } from '../support/flows/passkeys';
import { PASSWORD } from '../support/hosts/user-entities';
import { routesOf } from '../support/views/routes';

const NONE = 'none';

/** Every mounted route and the ability that it requires of a pinned session. A missing route fails the test. */
const GATES: Record<string, string> = {
  'GET jwks': NONE,
  'POST login': NONE,
  'POST refresh': NONE,
  'POST logout': NONE,
  'GET sessions': 'svc.sessions',
  'DELETE sessions': 'svc.sessions',
  'DELETE sessions/others': 'svc.sessions',
  'DELETE sessions/:svcSession': 'svc.sessions',
  'GET devices': 'svc.sessions',
  'DELETE devices/:svcKnownDevice': 'svc.sessions',
  'POST sessions/report': NONE,
  'POST confirm-password': 'svc.account',
  'POST two-factor-challenge': NONE,
  'POST two-factor-enrolment': NONE,
  'POST two-factor-enrolment/confirm': NONE,
  'GET trusted-devices': 'svc.account',
  'DELETE trusted-devices': 'svc.account',
  'DELETE trusted-devices/:svcDevice': 'svc.account',
};
/** The same table for the routes of the default guard alone. */
const GATES_OF_DEFAULT: Record<string, string> = {
  'GET two-factor/recovery-codes': 'svc.account',
  // Step-up is bound to one session, and a pinned session without svc.account cannot step up.
  'POST two-factor': NONE,
  'POST two-factor/confirm': NONE,
  'DELETE two-factor': NONE,
  'POST two-factor/recovery-codes': NONE,
  'GET passkeys': 'svc.account',
  'POST confirm-passkey': 'svc.account',
  'POST passkeys': NONE,
  'POST passkeys/login': NONE,
  'POST passkeys/login-options': NONE,
  'POST passkeys/registration-options': NONE,
  'POST two-factor-enrolment/passkey': NONE,
  'POST two-factor-enrolment/passkey-options': NONE,
  'PATCH passkeys/:svcPasskey': NONE,
  'DELETE passkeys/:svcPasskey': NONE,
  'POST password': 'svc.account',
  'GET account/export': 'svc.account.delete',
  'DELETE account': 'svc.account.delete',
  'POST register': NONE,
  'POST forgot-password': NONE,
  'POST reset-password': NONE,
  'GET email/verify/:id/:hash': NONE,
  'HEAD email/verify/:id/:hash': NONE,
  'POST email/verification-notification': NONE,
  'POST email/verify/:id/:hash': 'svc.account',
};
const ALL_GATES = { ...GATES, ...GATES_OF_DEFAULT };
const gatedAt = (guard: string) =>
  Object.entries(guard === 'api' ? ALL_GATES : GATES).filter(([, ability]) => ability !== NONE);
const GUARDS = ['api', 'admin'];
const SUBJECT: Record<string, string> = { api: '7f0c9f4e-5a51-4a55-9d3c-0d3f6f1f2a3b', admin: '1' };
const START_OPTIONS: Partial<AuthModuleOptions> = { tokenIds: 'any', hooks: { abilities: () => ['anything'] } };

const start = async (options: Partial<AuthModuleOptions> = START_OPTIONS): Promise<TestApp> => {
  const features = { ...PASSKEYS.features, twoFactor: true, knownDevices: true };
  const { t } = await startMembers({ ...PASSKEYS, ...options, knownDevices: { mail: false }, features });
  await member(t, 'ada@example.com', { id: SUBJECT.api });
  await t.person('root@example.com', 'admin');
  return t;
};

describe('the library`s own routes', () => {
  let t: TestApp;

  beforeAll(async () => (t = await start()));
  afterAll(() => t.stop());

  /** Calls a route as a client with a session of the guard does, with a valid path. */
  const call = (route: string, guard: string, token: string, app = t) => {
    const [method, path] = route.split(' ') as [string, string];
    const id = String(claimsOf(token).fid ?? randomUUID());
    const url = `${app.paths[guard]}/${path.replace(':svcSession', id)}`;
    const verb = method.toLowerCase() as 'get' | 'post' | 'delete';
    return app.http[verb](url).set('Authorization', `Bearer ${token}`).send({ password: PASSWORD });
  };
  const session = async (guard: string, abilities?: string[], app = t): Promise<string> =>
    (await app.auth.guard(guard).startSession(SUBJECT[guard]!, {}, abilities)).accessToken;
  /** The route succeeded, or a check after the gate refused: a step-up, a required field, or a link that is not valid. */
  const succeeded = ({ status, headers }: Response): boolean =>
    [200, 204, 422, 423].includes(status) || (status === 403 && headers['www-authenticate'] === undefined);

  it('are all listed in this table', () => {
    const mounted = routesOf(t).filter((route) => !route.includes('/admin/'));
    expect(mounted).toEqual(
      Object.keys(ALL_GATES)
        .map((route) => route.replace(' ', ' /auth/'))
        .toSorted(),
    );
  });

  describe.each(GUARDS)('at the guard %s', (guard) => {
    const gated = gatedAt(guard);

    it.each(gated)(
      '%s: a pinned session without %s is refused with the name of the ability',
      async (route, ability) => {
        const denied = t.recorded(TokenAbilityDenied);
        for (const abilities of [[], ['svc'], [`${ability}x`], [ability.toUpperCase()], ['orders.*']]) {
          const token = await session(guard, abilities);
          const { body, headers } = await call(route, guard, token).expect(403);
          expect(body).toEqual({ message: `This needs the ability ${ability}.` });
          expect(headers['www-authenticate']).toMatch(
            new RegExp(`^Bearer error="insufficient_scope", error_description="[^"\\\\]+", scope="${ability}"$`),
          );
          expect(denied.at(-1)).toEqual({
            userId: SUBJECT[guard],
            guard,
            familyId: claimsOf(token).fid,
            required: [ability],
            requiresAll: false,
          });
        }
      },
    );

    it.each(gated)('%s: a pinned session with %s is accepted', async (route, ability) => {
      for (const abilities of [[ability], ['svc.*'], ['*'], ['x', ability]]) {
        expect(succeeded(await call(route, guard, await session(guard, abilities)))).toBe(true);
      }
    });

    it.each(gated)('%s: a session with derived abilities is accepted', async (route) => {
      expect(succeeded(await call(route, guard, await session(guard)))).toBe(true);
    });

    it('logout and refresh accept a session that is pinned to no ability', async () => {
      const { accessToken, refreshToken } = await t.auth.guard(guard).startSession(SUBJECT[guard]!, {}, []);
      await t.refresh(refreshToken, guard).expect(200);
      await call('POST logout', guard, accessToken).expect(204);
    });

    it.each(gated)('%s: the gate reads the session if the token does not state whether it is pinned', async (route) => {
      const aud = guard === 'admin' ? ADMIN_AUDIENCE : undefined;
      const [pinned, derived] = [await session(guard, []), await session(guard)].map((token) => claimsOf(token).fid);
      const as = (claims: object): string => forge({ claims: { sub: SUBJECT[guard], ...(aud && { aud }), ...claims } });
      for (const pin of [undefined, false, 'true', 1, null]) {
        await call(route, guard, as({ fid: pinned, pin })).expect(403);
        await call(route, guard, as({ fid: String(pinned).toUpperCase(), pin })).expect(403);
      }
      await call(route, guard, as({ fid: derived, pin: true })).expect(403);
      expect(succeeded(await call(route, guard, as({ fid: pinned, scope: ALL_GATES[route] })))).toBe(true);
      if (route.includes(':svcSession')) return;
      expect(succeeded(await call(route, guard, as({ fid: await session(guard).then((s) => claimsOf(s).fid) })))).toBe(
        true,
      );
      // A token without a session, or with a session of a co-issuer, cannot be pinned.
      expect(succeeded(await call(route, guard, as({ fid: undefined })))).toBe(true);
      expect(succeeded(await call(route, guard, as({ fid: `co-issuer's ${randomUUID()}` })))).toBe(true);
    });
  });

  it('accept pinned sessions of a guard without these gates, and of no other guard', async () => {
    const app = await start({ guards: { admin: { features: { gateAuthRoutes: false } } } });
    for (const [route] of gatedAt('admin')) {
      expect(succeeded(await call(route, 'admin', await session('admin', [], app), app))).toBe(true);
      await call(route, 'api', await session('api', [], app), app).expect(403);
    }
    await app.stop();
  });

  it('are gated for pinned sessions if the host uses no abilities', async () => {
    const app = await start({});
    for (const [route, ability] of gatedAt('api')) {
      await call(route, 'api', await session('api', [], app), app).expect(403);
      expect(succeeded(await call(route, 'api', await session('api', [ability], app), app))).toBe(true);
    }
    await app.stop();
  });

  it('refuse a missing ability before they count the attempt', async () => {
    const app = await start({ rateLimits: { confirm: { maxAttempts: 1 } } });
    const token = await session('api', [], app);
    for (let i = 0; i < 3; i++) await call('POST confirm-password', 'api', token, app).expect(403);
    await app.stop();
  });
});

describe('a pinned session after twenty rotations', () => {
  let t: TestApp;

  beforeAll(async () => {
    t = await start({ hooks: { abilities: () => ['*'], tokenClaims: () => ({ scope: '*', pin: false }) } });
  });
  afterAll(() => t.stop());

  it.each([
    ['nothing', [], undefined],
    ['a list', ['svc.sessions', 'b', '0', 'orders.*', 'Z~!'], 'svc.sessions b 0 orders.* Z~!'],
  ])('keeps %s of abilities unchanged, byte for byte, in the token and in the store', async (_, abilities, scope) => {
    let { accessToken, refreshToken } = await t.auth.startSession(SUBJECT.api!, {}, abilities);
    for (let i = 0; i < 20; i++) {
      const { body } = await t.refresh(refreshToken).expect(200);
      [accessToken, refreshToken] = [body.access_token, body.refresh_token];
    }
    const { fid, pin, scope: granted } = claimsOf(accessToken);
    expect({ pin, granted }).toEqual({ pin: true, granted: scope });
    const rows = await t.database.query('SELECT scope FROM svc_sessions WHERE id = $1', [fid]);
    expect(rows).toEqual([{ scope: abilities.join(' ') }]);
  });
});
