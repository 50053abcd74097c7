import { membersForFile } from '../../../../../test/support/hosts/members';
import { UNREACHED_PROVIDER } from '../../../../../test/support/flows/identities';
import { PASSKEYS } from '../../../../../test/support/flows/passkeys';
import { routesOf } from '../../../../../test/support/views/routes';
import { ALL_REASONS } from '../../../../../test/support/views/security-lines';
import { declaredRoutes, statedReasons } from '../gates/declared-routes.testkit';

const passwordless = { passkeyRegistration: true, conditionalCreate: true, verificationByAddress: true };
const { t } = membersForFile({
  ...PASSKEYS,
  knownDevices: { mail: false },
  identities: UNREACHED_PROVIDER,
  operators: { users: 'admin' },
  guards: { admin: { features: { operators: false } } },
  accessKeys: { scannerKeys: {} },
  features: {
    ...PASSKEYS.features,
    twoFactor: true,
    ...passwordless,
    emailChange: true,
    knownDevices: true,
    emailCode: true,
    identities: true,
    accessKeys: true,
    accessKeyScanning: true,
    boundSessions: true,
    audit: true,
    operators: true,
    abilities: true,
  },
});

/** They need another identifier than the email, and cookie mode. */
const OF_OTHER_OPTIONS = ['POST username', 'POST device-session', 'POST device-session/refresh'];

describe('the operations', () => {
  it('cover the routes of the default guard with all features on, each with a unique name', () => {
    const mounted = routesOf(t).filter((route) => route.includes(' /auth/'));
    const declared = declaredRoutes();
    expect(declared.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
      [...mounted.map((route) => route.replace(' /auth/', ' ')), ...OF_OTHER_OPTIONS].toSorted(),
    );
    expect(new Set(declared.map(({ operation }) => operation)).size).toBe(declared.length);
  });
});

describe('the reasons', () => {
  it('are those that manifests state, and no other', () => {
    expect([...statedReasons().keys()].toSorted()).toEqual(ALL_REASONS);
  });
});
