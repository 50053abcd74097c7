import { membersForFile } from '../../../../../test/support/members';
import { PASSKEYS } from '../../../../../test/support/passkeys';
import { routesOf } from '../../../../../test/support/routes';
import { OPERATIONS } from './catalogue';

const passwordless = { passkeyRegistration: true, conditionalCreate: true };
const { t } = membersForFile({
  ...PASSKEYS,
  knownDevices: { mail: false },
  features: {
    ...PASSKEYS.features,
    twoFactor: true,
    ...passwordless,
    emailChange: true,
    knownDevices: true,
    emailCode: true,
  },
});

/** Needs another identifier than the email. */
const OF_USERNAMES = ['POST username'];

describe('the operations', () => {
  it('cover the routes of the default guard with all features on, each with a unique name', () => {
    const mounted = routesOf(t).filter((route) => route.includes(' /auth/'));
    expect(Object.keys(OPERATIONS).toSorted()).toEqual(
      [...mounted.map((route) => route.replace(' /auth/', ' ')), ...OF_USERNAMES].toSorted(),
    );
    expect(new Set(Object.values(OPERATIONS)).size).toBe(mounted.length + OF_USERNAMES.length);
  });
});
