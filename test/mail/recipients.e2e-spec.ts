import { type AuthModuleOptions, SecurityStore } from '@svc/auth';
import type { TestApp } from '../support/hosts/app';
import { mailedCode, requestCode, sendCode } from '../support/flows/email-code';
import { REPORT_URL, knownDeviceOptions, newDevice, signInOn } from '../support/flows/known-devices';
import { Mailbox, RESET_URL, linkIn, member, membersForFile } from '../support/hosts/members';
import { ADA, CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { enrol } from '../support/flows/two-factor';
import { PASSWORD } from '../support/hosts/user-entities';

const VICTIM = 'victim@example.com';
const NEXT = 'another horse entirely';
/** The budget of a recipient in an hour, and the part of it that one client can use. */
const [BUDGET, OF_ONE_CLIENT] = [10, 6];

const verified = { emailVerifiedAt: new Date(0) };

const options = (more: Partial<AuthModuleOptions> = {}): Partial<AuthModuleOptions> =>
  knownDeviceOptions({
    ...more,
    features: { emailCode: true, emailChange: true, twoFactor: true, ...more.features },
  });

let clients = 0;
/** The header of a further client. */
const anotherClient = (): [string, string] => ['X-Forwarded-For', `198.51.100.${(clients = (clients + 1) % 250) + 1}`];

/** The subjects of the mails to an address, after those that were queued before have been sent. */
async function mailsTo(t: TestApp, mailbox: Mailbox, address: string): Promise<string[]> {
  const last = `last${mailbox.mails.length}@example.com`;
  await member(t, last, verified);
  await forgot(t, last).expect(200);
  await mailbox.to(last);
  await t.calm();
  return mailbox.mails.filter(({ to }) => to === address).map(({ subject }) => subject);
}

const forgot = (t: TestApp, email: string) => t.http.post('/auth/forgot-password').send({ email });

const register = (t: TestApp, email: string) =>
  t.http
    .post('/auth/register')
    .set(...anotherClient())
    .send({ name: 'Eve', email, password: PASSWORD, password_confirmation: PASSWORD });

async function deleteAccount(t: TestApp, token: string): Promise<void> {
  const proof = await confirmationTokenOf(t, token);
  await t.call('delete', '/auth/account', token).set(CONFIRMATION_HEADER, proof).expect(204);
}

describe('mails to an address of another person', () => {
  const mailbox = new Mailbox();
  const { t } = membersForFile(options({ mail: { mailer: mailbox, notices: true } }), { behindProxy: true });
  beforeEach(() => mailbox.clear());

  it('are at most ten in an hour, whatever an account with the unproved address causes', async () => {
    const { access_token: token } = (await register(t, VICTIM).expect(200)).body;
    for (let i = 0; i < 12; i++)
      await t
        .call('post', '/auth/email/verification-notification', token)
        .set(...anotherClient())
        .expect(202);
    for (let i = 0; i < 3; i++) await newDevice(t, VICTIM);
    await enrol(t, VICTIM);
    await requestCode(t, VICTIM)
      .set(...anotherClient())
      .expect(202);
    const subjects = await mailsTo(t, mailbox, VICTIM);
    expect(subjects).toHaveLength(BUDGET);
    // No notice: the owner of the address has no account.
    expect(subjects.filter((subject) => /factor/.test(subject))).toEqual([]);
  });

  it('are at most ten in an hour for accounts that are registered and deleted in a loop', async () => {
    for (let i = 0; i < 12; i++) await deleteAccount(t, (await register(t, VICTIM).expect(200)).body.access_token);
    const subjects = await mailsTo(t, mailbox, VICTIM);
    expect(subjects).toHaveLength(BUDGET);
    expect(new Set(subjects).size).toBe(1);
  });

  it('count together for all its spellings and subaddresses', async () => {
    for (let i = 0; i < 12; i++) await register(t, `${i % 2 ? 'Victim' : 'victim'}+${i}@Example.com`).expect(200);
    await mailsTo(t, mailbox, VICTIM);
    expect(mailbox.mails.filter(({ to }) => to.startsWith('victim'))).toHaveLength(BUDGET);
  });

  it('are at most ten in an hour for changes of email to it', async () => {
    await member(t, 'eve@example.com', verified);
    const { access_token: token } = await t.session('eve@example.com');
    const proof = await confirmationTokenOf(t, token);
    for (let i = 0; i < 12; i++)
      await t
        .call('post', '/auth/email/change', token)
        .set(CONFIRMATION_HEADER, proof)
        .set(...anotherClient())
        .send({ email: VICTIM })
        .expect(202);
    await mailsTo(t, mailbox, VICTIM);
    expect(mailbox.mails.filter(({ to }) => to === VICTIM).length).toBeLessThanOrEqual(BUDGET);
  });

  it('do not contain the address in the store, nor its hash', async () => {
    const written = jest.spyOn(t.app.get(SecurityStore), 'count');
    await register(t, VICTIM).expect(200);
    await mailbox.to(VICTIM);
    expect(JSON.stringify(written.mock.calls)).not.toMatch(/victim/i);
  });

  it('about the deletion of an account with a proved address are sent once a minute, for all accounts together', async () => {
    for (let i = 0; i < 3; i++) {
      await member(t, ADA, verified);
      await deleteAccount(t, (await t.session(ADA)).access_token);
    }
    expect(await mailsTo(t, mailbox, ADA)).toEqual([expect.stringMatching(/deleted/)]);
  });
});

describe('requests of strangers for the address of a proved owner', () => {
  const mailbox = new Mailbox();
  const registration = { concealExisting: true };
  const emailVerification = { blockUnverifiedLogin: true };
  const { t } = membersForFile(
    options({
      mail: { mailer: mailbox, notices: true },
      registration,
      emailVerification,
      passwordReset: { throttleSeconds: 0 },
    }),
    { behindProxy: true },
  );
  beforeEach(async () => {
    mailbox.clear();
    await member(t, ADA, verified);
  });

  const asks: [string, (email: string) => ReturnType<typeof forgot>][] = [
    ['a reset link', (email) => forgot(t, email)],
    ['a code', (email) => requestCode(t, email)],
    ['a registration', (email) => register(t, email)],
  ];

  /** Causes as many mails as the budget allows, in different ways. */
  async function exhaust(): Promise<void> {
    for (let i = 0; i < BUDGET + 3; i++)
      await requestCode(t, ADA)
        .set(...anotherClient())
        .expect(202);
    await mailbox.nth(BUDGET);
  }

  it('cause at most ten mails in an hour, of all kinds together', async () => {
    for (let i = 0; i < 8; i++)
      for (const [, ask] of asks) {
        await ask(ADA).set(...anotherClient());
        // A mail that is prepared takes a place until it is sent, or not: another one is refused meanwhile.
        await t.calm();
      }
    expect(await mailsTo(t, mailbox, ADA)).toHaveLength(BUDGET);
  });

  it.each(asks)('for %s are answered alike before and after, and as for an unknown address', async (_, ask) => {
    const shape = async (email: string): Promise<unknown> => {
      const { status, text, headers } = await ask(email).set(...anotherClient());
      return [status, text.replace(/[0-9a-f]{64}/, ''), Object.keys(headers).toSorted()];
    };
    const before = await shape(ADA);
    await exhaust();
    expect(await shape(ADA)).toEqual(before);
    expect(await shape('unknown@example.com')).toEqual(before);
  });

  it('do not prevent the mails that inform the owner', async () => {
    await newDevice(t, ADA);
    await exhaust();
    mailbox.clear();
    const { body } = await signInOn(t);
    const reported = linkIn(await mailbox.nth(1));
    expect(reported.href).toContain(REPORT_URL);
    const change = { current_password: PASSWORD, password: NEXT, password_confirmation: NEXT };
    await t.call('post', '/auth/password', body.access_token).send(change).expect(200);
    expect((await mailbox.nth(2)).subject).toMatch(/password/);
    // The report mails a reset link: its request has the secret of a mail to this address.
    const token = reported.searchParams.get('token');
    await t.http.post('/auth/sessions/report').send({ token }).expect(200);
    expect((await mailbox.nth(3)).text).toContain(RESET_URL);
  });

  it('do not prevent the mail with the undo of a change of email', async () => {
    const { access_token: token } = await t.session(ADA);
    const proof = await confirmationTokenOf(t, token);
    await exhaust();
    mailbox.clear();
    const change = t.call('post', '/auth/email/change', token).set(CONFIRMATION_HEADER, proof);
    await change.send({ email: 'ada@new.example' }).expect(202);
    const link = linkIn(await mailbox.to('ada@new.example'));
    await t.http
      .post('/auth/email/change/confirm')
      .send({ token: link.searchParams.get('token') })
      .expect(200);
    expect((await mailbox.to(ADA)).text).toContain('undo-email');
  });

  it('five in number, of the same client, do not prevent a code, nor end a code that was mailed', async () => {
    const own = await mailedCode(t, mailbox);
    mailbox.clear();
    for (let i = 0; i < 4; i++) await requestCode(t, ADA).expect(202);
    await mailbox.nth(4);
    await sendCode(t, own).expect(200);
    mailbox.clear();
    await sendCode(t, await mailedCode(t, mailbox)).expect(200);
  });

  it('of one client use a part of the budget, so that the owner gets mails from another client', async () => {
    for (let i = 0; i < BUDGET + 3; i++) await requestCode(t, ADA).expect(202);
    expect(await mailsTo(t, mailbox, ADA)).toHaveLength(OF_ONE_CLIENT);
    await forgot(t, ADA)
      .set(...anotherClient())
      .expect(200);
    expect(await mailsTo(t, mailbox, ADA)).toHaveLength(OF_ONE_CLIENT + 1);
  });
});
