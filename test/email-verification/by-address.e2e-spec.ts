import { randomUUID } from 'node:crypto';
import { requestStatements } from '../support/stores/request-statements';
import { API_URL, hangingMails, linkIn, member, membersForFile, startMembers } from '../support/hosts/members';
import { ADA } from '../support/flows/step-up';
import { PASSWORD } from '../support/hosts/user-entities';

const ASK = '/auth/email/verification-request';
const VERIFIED = 'verified@example.com';
const UNKNOWN = 'unknown@example.com';

describe('another verification mail by address', () => {
  const { t, mailbox } = membersForFile({
    features: { verificationByAddress: true },
    emailVerification: { blockUnverifiedLogin: true },
    storeTimeoutMs: 20_000,
  });
  const ask = (email: unknown) => t.http.post(ASK).send({ email } as object);

  it('lets a user in who is blocked until the address is verified, and whose first link has expired', async () => {
    const form = { name: 'Ada', email: ADA, password: PASSWORD, password_confirmation: PASSWORD };
    await t.http.post('/auth/register').send(form).expect(201);
    const first = linkIn(await mailbox.nth(1)).href.replace(API_URL, '');
    t.clock.advance(3601);
    await t.http.get(first).set('Accept', 'application/json').expect(403);
    await t.login(ADA, PASSWORD).expect(403);
    const { body, headers } = await ask(' ADA@Example.com').expect(202);
    expect(body).toEqual({ status: 'verification-link-sent' });
    expect(headers['cache-control']).toBe('no-store, private');
    const mail = await mailbox.nth(2);
    expect(mail.to).toBe(ADA);
    await t.http.get(linkIn(mail).href.replace(API_URL, '')).expect(204);
    await t.login(ADA, PASSWORD).expect(200);
  });

  it('has the same answer and the same work for an unverified, a verified and an unknown address', async () => {
    await member(t, ADA);
    await member(t, VERIFIED, { emailVerifiedAt: new Date() });
    // The mails wait, so that only the work before the answer counts.
    await hangingMails(t, mailbox);
    const statements = requestStatements(t);
    const seen = async (email: string): Promise<object> => {
      statements.mockClear();
      const { status, text, headers } = await ask(email);
      const { date: _, 'x-ratelimit-remaining': __, ...same } = headers;
      return { status, text, headers: same, statements: statements.mock.calls.map(([sql]) => sql) };
    };
    const [unverified, verified, unknown] = [await seen(ADA), await seen(VERIFIED), await seen(UNKNOWN)];
    expect(unverified).toMatchObject({ status: 202 });
    expect(verified).toEqual(unverified);
    expect(unknown).toEqual(unverified);
    mailbox.release();
    await mailbox.to(ADA);
    await t.calm();
    const recipients = mailbox.mails.map(({ to }) => to);
    expect([VERIFIED, UNKNOWN].filter((email) => recipients.includes(email))).toEqual([]);
  });

  it('makes the same statements after the answer, too', async () => {
    await member(t, ADA);
    await member(t, VERIFIED, { emailVerifiedAt: new Date() });
    const statements = requestStatements(t);
    const work = async (email: string): Promise<string[]> => {
      statements.mockClear();
      await ask(email).expect(202);
      await t.calm();
      return statements.mock.calls.map(([sql]) => sql);
    };
    const [unverified, verified, unknown] = [await work(ADA), await work(VERIFIED), await work(UNKNOWN)];
    expect(unverified.some((sql) => sql.includes('svc_email_deliveries'))).toBe(true);
    expect(verified).toEqual(unverified);
    expect(unknown).toEqual(unverified);
  });

  it('mails one address six times in an hour for one client, and gives the same answer afterwards', async () => {
    await member(t, ADA);
    for (let i = 0; i < 8; i++) await ask(ADA).expect(202);
    await t.calm();
    expect(mailbox.mails).toHaveLength(6);
  });

  it.each([undefined, '', 'ada', ['a@example.com'], { $ne: '' }])(
    'is refused without an address: %j',
    async (email) => {
      const { body } = await ask(email).expect(422);
      expect(Object.keys(body.errors)).toEqual(['email']);
    },
  );

  it('is a server call, too', async () => {
    await member(t, ADA);
    await t.auth.emailVerification.sendTo(ADA, { ip: '203.0.113.7' });
    expect((await mailbox.nth(1)).to).toBe(ADA);
  });
});

it('is limited with the other requests of a client for the verification', async () => {
  const { t } = await startMembers({
    features: { verificationByAddress: true },
    rateLimits: { emailVerification: { maxAttempts: 2 } },
    keyPrefix: `${randomUUID()}:`,
  });
  for (const status of [202, 202, 429])
    await t.http
      .post(ASK)
      .send({ email: `${randomUUID()}@example.com` })
      .expect(status);
  await t.stop();
});

it('is off by default, and needs the verification of emails', async () => {
  const { t } = await startMembers();
  await t.http.post(ASK).send({ email: ADA }).expect(404);
  await t.stop();
  const alone = { emailVerification: false, verificationByAddress: true };
  await expect(startMembers({ features: alone })).rejects.toThrow('features.verificationByAddress needs');
});
