import { EmailVerificationFlow, Verified } from '@svc/auth';
import { mailedCode, sendCode } from '../support/flows/email-code';
import { API_URL, EMAIL_CHANGE, member } from '../support/hosts/members';
import { CONFIRMATION_HEADER } from '../support/flows/step-up';
import { rounds } from '../support/runtime/rounds';
import { codeOf, completeChallenge } from '../support/flows/two-factor';
import { ADA, PASSWORD } from '../support/hosts/user-entities';
import { NEW_PASSWORD, SECOND_FACTOR_REMOVED, UnverifiedAccount } from '../support/hosts/unverified-account';
import { whileStatementsFail } from '../support/faults/failing-statements';

const PAGE = 'https://app.example.test/verified';

const account = UnverifiedAccount.forFile({
  refreshTokenFrom: 'both',
  emailVerification: { frontendUrl: PAGE },
  features: { emailCode: true, emailChange: true },
  emailChange: EMAIL_CHANGE,
});
const { t, mailbox } = account;

/** The path of a link that is mailed to the account. */
async function mailedLink(email = ADA): Promise<string> {
  const before = mailbox.mails.length;
  const { accessToken } = await t.auth.startSession(account.userId);
  await t.call('post', '/auth/email/verification-notification', accessToken).expect(202);
  return (await mailbox.linkAfter(before, email)).href.replace(API_URL, '');
}

const open = (path: string) => t.http.get(path).set('Accept', 'application/json');

/** Opens a link as a program does that reads the mails of a mailbox. */
const scan = async (): Promise<unknown> => open(await mailedLink()).expect(204);

const isVerified = async (): Promise<boolean> => (await account.factor()).verified;

const signInByCode = async () => sendCode(t, await mailedCode(t, mailbox)).expect(200);

/** Signs in with the password, and enrols a passkey. */
async function enrolPasskey(password: string) {
  const { body: session } = await t.login(ADA, password).expect(200);
  const { body } = await t.call('post', '/auth/confirm-password', session.access_token).send({ password }).expect(200);
  const confirmed = { ...session, proof: body.confirmation_token };
  await account.app.enrol(confirmed, account.authenticator);
  return confirmed;
}

const expectNothingLeft = async (): Promise<void> => {
  expect([await account.app.rows(), await account.factor()]).toEqual([[], SECOND_FACTOR_REMOVED]);
  expect((await account.app.attempt(account.authenticator)).status).toBe(422);
};

const expectFactorsKept = async (secret: string, password: string): Promise<void> => {
  await account.app.signIn(account.authenticator);
  const { body } = await t.login(ADA, password).expect(200);
  await completeChallenge(t, { challenge_token: body.challenge_token, code: codeOf(t, secret) }).expect(200);
};

describe('a verification link that is opened without a session', () => {
  const moments: [string, () => Promise<unknown>][] = [
    ['before', () => account.addSecondFactors().then(scan)],
    ['after', () => scan().then(() => account.addSecondFactors())],
  ];

  it.each(moments)('verifies, and the first reset removes the factors that were added %s', async (_, hijack) => {
    await hijack();
    expect(await isVerified()).toBe(true);
    const { access_token: token } = await t.session();
    await account.reset();
    await expectNothingLeft();
    await t.get('/private', token).expect(401);
    await t.login(ADA, NEW_PASSWORD).expect(200);
  });

  it.each(moments)('verifies, and the first mailed code removes the factors that were added %s', async (_, hijack) => {
    await hijack();
    const { access_token: token } = await t.session();
    const { body } = await signInByCode();
    await expectNothingLeft();
    await t.get('/private', token).expect(401);
    await t.get('/private', body.access_token).expect(200);
    // The password belongs to the person who has registered the address.
    await t.login(ADA, PASSWORD).expect(422);
  });

  it('can be repeated by that person, and by the scanner, without a change', async () => {
    const link = await mailedLink();
    const verified = t.recorded(Verified);
    await Promise.all(Array.from({ length: 8 }, () => open(link).expect(204)));
    await account.addSecondFactors();
    await account.reset();
    await expectNothingLeft();
    expect(verified).toHaveLength(1);
  });

  it('with a session of another user, or with one that has ended, proves no person', async () => {
    await member(t, 'eve@example.com');
    const [eve, ended] = [await t.session('eve@example.com'), await t.session()];
    await t.call('post', '/auth/logout', ended.access_token).expect(204);
    const link = await mailedLink();
    for (const { access_token: token, refresh_token } of [eve, ended]) {
      await open(link).set('Authorization', `Bearer ${token}`).expect(204);
      await open(link).set('Cookie', `__Host-refresh=${refresh_token}`).expect(204);
    }
    const { accessToken } = await t.auth.startSession(account.userId, {}, ['svc.account']);
    await open(link).set('Authorization', `Bearer ${accessToken}`).expect(204);
    await t.database.query("DELETE FROM members WHERE email = 'eve@example.com'");
    await account.addSecondFactors();
    await account.reset();
    await expectNothingLeft();
  });

  it('leads a browser to the page with the link in the fragment, which the page sends with a token', async () => {
    const link = await mailedLink();
    const browser = () => t.http.get(link).set('Accept', 'text/html').expect(302);
    const { location } = (await browser()).headers;
    const page = new URL(location!);
    expect(location).toMatch(`${PAGE}?verified=1#link=`);
    const given = new URLSearchParams(page.hash.slice(1)).get('link')!;
    expect(given).toBe(API_URL + link);
    const { secret } = await account.addSecondFactors();
    const { access_token: token } = await account.app.signIn(account.authenticator);
    await t.call('post', given.replace(API_URL, ''), token).expect(204);
    expect((await browser()).headers.location).toBe(`${PAGE}?verified=1`);
    await account.reset();
    await expectFactorsKept(secret, NEW_PASSWORD);
  });

  it('that fails after its first statement leaves the address unproved', async () => {
    const link = await mailedLink();
    await whileStatementsFail(t, 'UPDATE OF email_verified_at ON members', () => open(link).expect(503));
    await open(link).expect(204);
    await account.addSecondFactors();
    await account.reset();
    await expectNothingLeft();
  });

  it('gets another link on request, until a person has proved the address', async () => {
    await scan();
    const link = await mailedLink();
    await t.call('post', link, (await t.session()).access_token).expect(204);
    const before = mailbox.mails.length;
    await t.call('post', '/auth/email/verification-notification', (await t.session()).access_token).expect(202);
    await t.calm();
    expect(mailbox.mails).toHaveLength(before);
  });

  const ROUNDS = rounds(2);
  it(`beside a reset leaves an account whose person is proved, in ${ROUNDS} rounds`, async () => {
    const link = await mailedLink();
    for (let round = 0; round < ROUNDS; round++) {
      await t.database.query('UPDATE members SET email_verified_at = NULL');
      t.clock.advance(61);
      const token = await account.mailed();
      const scans = [0, 1, 2].map(() => open(link).expect(204));
      await Promise.all([account.post(token, ADA, `horse number ${round} at last`).expect(200), ...scans]);
      expect(await t.database.query('SELECT * FROM svc_email_deliveries')).toEqual([]);
      expect(await isVerified()).toBe(true);
    }
  });
});

describe('a verification link that is opened with a session of its user', () => {
  const ways: [string, (link: string, session: { access_token: string; refresh_token: string }) => Promise<unknown>][] =
    [
      ['in the cookie', async (link, { refresh_token }) => open(link).set('Cookie', `__Host-refresh=${refresh_token}`)],
      [
        'by an access token',
        async (link, { access_token }) => open(link).set('Authorization', `Bearer ${access_token}`),
      ],
      ['by the page', async (link, { access_token }) => t.call('post', link, access_token).expect(204)],
      [
        'by a server call',
        async (link, { access_token }) => {
          const [, id, hash, expires, signature] =
            /verify\/([^/]+)\/(\w+)\?expires=(\d+)&signature=(\w+)$/.exec(link) ?? [];
          const parts = { id: id!, hash: hash!, expires: expires!, signature: signature! };
          const source = { headers: { authorization: `Bearer ${access_token}` }, ip: '192.0.2.1' };
          await t.app.get(EmailVerificationFlow).verify(parts, source);
        },
      ],
    ];

  it.each(ways)('%s proves the person: resets and codes remove nothing', async (_, openWith) => {
    const session = await t.session();
    await openWith(await mailedLink(), session);
    expect(await isVerified()).toBe(true);
    const { secret } = await account.addSecondFactors();
    await account.reset();
    await expectFactorsKept(secret, NEW_PASSWORD);
    const { body } = await signInByCode();
    expect(body.methods).toEqual(['totp', 'recovery_code', 'passkey']);
    // The refresh token is not used up, and has ended with the password.
    await t.refresh(session.refresh_token).expect(401);
  });

  it('uses no refresh token up', async () => {
    const { refresh_token } = await t.session();
    await open(await mailedLink())
      .set('Cookie', `__Host-refresh=${refresh_token}`)
      .expect(204);
    await t.refresh(refresh_token).expect(200);
  });

  it('is refused without a token, for another user, and in a pinned session without svc.account', async () => {
    await member(t, 'eve@example.com');
    const link = await mailedLink();
    await t.http.post(link).expect(401);
    await t.call('post', link, (await t.session('eve@example.com')).access_token).expect(403);
    const { accessToken } = await t.auth.startSession(account.userId, {}, ['orders.read']);
    await t.call('post', link, accessToken).expect(403);
    await t.call('post', link.replace(/.$/, 'x'), (await t.session()).access_token).expect(403);
    expect(await isVerified()).toBe(false);
  });
});

describe('an account whose person is proved', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['a reset', () => account.reset()],
    ['a mailed code', () => signInByCode().then(() => account.reset())],
  ])('by %s after a scanner opened the link keeps its factors at later proofs', async (_, prove) => {
    await scan();
    await prove();
    await enrolPasskey(NEW_PASSWORD);
    t.clock.advance(61);
    await account.reset();
    await signInByCode();
    await account.app.signIn(account.authenticator);
  });
});

describe('a change of the email', () => {
  const OTHER = 'ada@new.example';
  const reset = () => account.reset();

  it.each<[string, () => Promise<unknown>, { password?: string; withSession?: boolean; passkeys: number }]>([
    ['of an account that no person has proved proves none', async () => undefined, { passkeys: 0 }],
    ['of an account whose link a scanner opened proves none', scan, { passkeys: 0 }],
    ['that is confirmed with a session proves the person', scan, { withSession: true, passkeys: 1 }],
    ['of a proved account keeps the proof', reset, { password: NEW_PASSWORD, passkeys: 1 }],
  ])('%s', async (_, prepare, { password = PASSWORD, withSession, passkeys }) => {
    await prepare();
    const { access_token: token, proof } = await enrolPasskey(password);
    const before = mailbox.mails.length;
    const request = t.call('post', '/auth/email/change', token).set(CONFIRMATION_HEADER, proof);
    await request.send({ email: OTHER }).expect(202);
    const confirm = t.http.post('/auth/email/change/confirm');
    if (withSession) confirm.set('Authorization', `Bearer ${token}`);
    await confirm.send({ token: (await mailbox.linkAfter(before)).searchParams.get('token') }).expect(200);
    await t.calm();
    t.clock.advance(61);
    await account.post(await account.mailed(OTHER), OTHER).expect(200);
    expect(await account.app.rows()).toHaveLength(passkeys);
  });
});
