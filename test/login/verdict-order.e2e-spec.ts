import { mailedCode, sendCode } from '../support/flows/email-code';
import { member, membersForFile } from '../support/hosts/members';
import { enrol } from '../support/flows/two-factor';
import { ADA } from '../support/hosts/user-entities';

describe('a user whom several rules stop at a sign-in', () => {
  let admits = true;
  const { t, mailbox } = membersForFile({
    // Without the library's own verification, a mailed code does not verify the address.
    features: { emailCode: true, twoFactor: true, emailVerification: false, registration: false },
    emailVerification: { blockUnverifiedLogin: true },
    hooks: { canSignIn: () => admits },
  });
  const signIns = {
    'the password': async () => t.login(ADA),
    // A user whom the host refuses is mailed no code, so it refuses them after the mail.
    'a mailed code': async () => {
      const verdict = admits;
      admits = true;
      const code = await mailedCode(t, mailbox);
      admits = verdict;
      return sendCode(t, code);
    },
  };
  const ways = Object.keys(signIns) as (keyof typeof signIns)[];

  beforeEach(async () => {
    admits = true;
    await member(t, ADA, { emailVerifiedAt: new Date() });
  });

  const unverify = () => t.database.query('UPDATE members SET email_verified_at = NULL');

  it.each(ways)('gets the challenge first, after %s', async (way) => {
    await enrol(t);
    await unverify();
    admits = false;
    const { status, body } = await signIns[way]();
    expect([status, body]).toEqual([200, expect.objectContaining({ two_factor: true })]);
  });

  it.each(ways)('is then refused until the email is verified, after %s', async (way) => {
    await unverify();
    admits = false;
    const { status, body } = await signIns[way]();
    expect([status, body]).toEqual([403, { message: 'Please verify your email address before you sign in.' }]);
  });

  it.each(ways)('is then refused by the host, and starts a session when no rule is left, after %s', async (way) => {
    admits = false;
    expect((await signIns[way]()).status).toBe(401);
    admits = true;
    const { status, body } = await signIns[way]();
    expect([status, body]).toEqual([200, expect.objectContaining({ access_token: expect.any(String) })]);
  });
});
