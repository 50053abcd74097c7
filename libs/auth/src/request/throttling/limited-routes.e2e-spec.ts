import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import { claimsOf } from '../../../../../test/support/hosts/app';
import { FullAccount } from '../../../../../test/support/hosts/full-account';
import { UNLIMITED } from '../../../../../test/support/hosts/host.module';
import { UNREACHED_PROVIDER } from '../../../../../test/support/flows/identities';
import { CONFIRMATION_HEADER, confirmationTokenOf } from '../../../../../test/support/flows/step-up';
import { PasswordHasher } from '../../identity/password/password-hasher';
import { declaredRoutes } from '../gates/declared-routes.testkit';
import { declarationOf } from '../gates/request-log';
import { type MountedRoute, mountedRoutes } from '../gates/library-routes';
import { limitationOf } from './limiters';

const FEATURES = {
  emailCode: true,
  emailChange: true,
  passkeyRegistration: true,
  verificationByAddress: true,
  conditionalCreate: true,
  identities: true,
  accessKeys: true,
  audit: true,
  operators: true,
  abilities: true,
};

describe('the routes of the library', () => {
  const account = FullAccount.forFile({
    features: FEATURES,
    identities: UNREACHED_PROVIDER,
    operators: { users: 'admin' },
    guards: { admin: { features: { operators: false } } },
    rateLimits: { ...UNLIMITED, twoFactor: { maxAttempts: 1 } },
  });
  const { t } = account;
  const routes = (): MountedRoute[] => mountedRoutes(t.app.get(ModulesContainer), new MetadataScanner());
  const named = ({ method, path }: MountedRoute): string => `${method} ${path}`;
  const limitation = ({ controller, handler }: MountedRoute) => limitationOf(controller, handler);

  it('declare their limiters, or why they have none', () => {
    const undeclared = routes().filter((route) => {
      const { names, reason = '' } = limitation(route);
      return names.length > 0 === reason.length > 0;
    });
    expect(undeclared.map(named)).toEqual([]);
    // No route is missing, except that of a feature that another identifier needs, that of a scanner, which needs the bytes of the
    // body, and those that need cookie mode.
    const seen = new Set(routes().map(({ handler }) => declarationOf(handler)!.operation));
    const operations = declaredRoutes().map(({ operation }) => operation);
    expect(operations.filter((operation) => !seen.has(operation))).toEqual([
      'username_change',
      'access_keys_leaked',
      'device_session_register',
      'device_session_refresh',
    ]);
  });

  it('compute no hash and add no row where they have no limiter', async () => {
    await account.fillTables();
    const idOf = async (table: string, column = 'id'): Promise<string> =>
      (
        await t.database.query(`SELECT ${column} AS id FROM ${table} WHERE guard = 'api' AND user_id = $1 LIMIT 1`, [
          account.id,
        ])
      )[0].id;
    const params: Record<string, unknown> = {
      svcKnownDevice: await idOf('svc_known_devices'),
      svcDevice: await idOf('svc_trusted_devices'),
      svcPasskey: await idOf('svc_passkeys', 'credential_id'),
      svcIdentity: await idOf('svc_identities'),
      svcAccessKey: await idOf('svc_access_keys'),
    };
    const hasher = t.app.get(PasswordHasher);
    const hashes = [jest.spyOn(hasher, 'hash'), jest.spyOn(hasher, 'verify')];
    // The token of a provider, which is refused here before a store is read.
    const isOfProvider = ({ path }: MountedRoute): boolean => path.endsWith(':svcProvider/logout');
    const unlimited = routes().filter(
      (route) => route.guard === 'api' && limitation(route).reason && !isOfProvider(route),
    );
    const last = (route: MountedRoute): boolean => named(route) === 'DELETE auth/account';
    for (const route of [...unlimited.filter((one) => !last(one)), ...unlimited.filter(last)]) {
      const { accessToken } = await t.auth.startSession(account.id, { amr: ['pwd', 'otp'] });
      const proof = await confirmationTokenOf(t, accessToken);
      params.svcSession = claimsOf((await t.auth.startSession(account.id)).accessToken).fid;
      const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => String(params[name]));
      const before = await account.rows();
      for (const spy of hashes) spy.mockClear();
      const headers = { Authorization: `Bearer ${accessToken}`, [CONFIRMATION_HEADER]: proof };
      const send = () => t.http[route.method.toLowerCase() as 'get'](`/${path}`).set(headers);
      const answers = [await send(), await send()];
      expect([named(route), answers[0]!.status < 300]).toEqual([named(route), true]);
      expect([named(route), answers[1]!.status < 500]).toEqual([named(route), true]);
      expect([named(route), ...hashes.map(({ mock }) => mock.calls.length)]).toEqual([named(route), 0, 0]);
      const after = await account.rows();
      const grown = Object.keys(after).filter((table) => after[table]! > before[table]!);
      expect([named(route), grown]).toEqual([named(route), []]);
    }
    expect(unlimited.length).toBeGreaterThan(15);
  });

  it('refuse an account that asks for recovery codes again and again, before a hash is computed', async () => {
    const proof = await account.prove();
    const hash = jest.spyOn(t.app.get(PasswordHasher), 'hash');
    const post = (path: string) => t.call('post', `/auth/${path}`, account.token).set(CONFIRMATION_HEADER, proof);
    await post('two-factor').expect(200);
    await post('two-factor/recovery-codes').expect(409);
    for (const path of ['two-factor', 'two-factor/recovery-codes']) await post(path).expect(429);
    expect(hash).toHaveBeenCalledTimes(8);
    for (const status of [422, 422, 429]) await post('two-factor/confirm').send({ code: '000000' }).expect(status);
  });
});
