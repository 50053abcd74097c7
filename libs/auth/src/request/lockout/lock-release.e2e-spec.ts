import { member, startMembers } from '../../../../../test/support/hosts/members';
import { LockRelease } from './lockout';

const UNVERIFIED = 'unverified@example.com';

describe('the release of a lock', () => {
  it('finds the counter of an account that registration.concealExisting conceals', async () => {
    const { t } = await startMembers({
      features: { passwordReset: true, lockout: true },
      registration: { concealExisting: true },
      emailVerification: { blockUnverifiedLogin: true },
    });
    await member(t, UNVERIFIED);
    for (let i = 0; i < 3; i++) await t.login(UNVERIFIED, 'wrong').expect(422);
    const releases = t.app.get(LockRelease, { strict: false, each: true }) as unknown as LockRelease[];
    const released = await Promise.all(releases.map((each) => each.release('login', UNVERIFIED)));
    expect(released.flat()).toMatchObject([{ purpose: 'login', subject: `idn:${UNVERIFIED}`, lockedGuards: [] }]);
    await t.stop();
  });
});
