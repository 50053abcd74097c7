import { Logger } from '@nestjs/common';
import { MailFailed, type MailTemplates, nodemailerMailer } from '@svc/auth';
import { setImmediate as tick } from 'node:timers/promises';
import { ADA, CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { eventually } from '../support/runtime/eventually';
import { Mailbox, WAITING, hangingMails, member, membersForFile } from '../support/hosts/members';
import { tablesContaining } from '../support/views/find-texts';
import { Member } from '../support/hosts/user-entities';

const MAIL_HEADERS = { 'Auto-Submitted': 'auto-generated' };
const MAIL = { to: 'ada@example.com', subject: 'Hello', text: 'A text', html: '<p>A text</p>', headers: MAIL_HEADERS };
const FORGOT = '/auth/forgot-password';
const RESEND = '/auth/email/verification-notification';

type Transport = Parameters<typeof nodemailerMailer>[0];
type Nodemailer = { createTransport: (options: object) => Transport };

/** What the mailer is made with: the options for the installed version, or a transporter of each version. */
const WITH: [string, (options: object) => Transport][] = [
  ['transport options', (options) => options],
  ...['nodemailer', 'nodemailer-9', 'nodemailer-8', 'nodemailer-7'].map(
    (name): [string, (options: object) => Transport] => [
      `a transporter of ${name}`,
      (options) => (require(name) as Nodemailer).createTransport(options),
    ],
  ),
];

describe.each(WITH)('nodemailerMailer with %s', (_, transport) => {
  it('sends from the configured sender', async () => {
    const sent = (await nodemailerMailer(transport({ jsonTransport: true }), 'Example <no-reply@example.com>').send(
      MAIL,
    )) as {
      message: string;
    };
    expect(JSON.parse(sent.message)).toMatchObject({
      from: { address: 'no-reply@example.com', name: 'Example' },
      to: [{ address: 'ada@example.com' }],
      subject: 'Hello',
      text: 'A text',
      html: '<p>A text</p>',
    });
  });

  it('sends the headers of the mail', async () => {
    const sent = await nodemailerMailer(
      transport({ streamTransport: true, buffer: true }),
      'no-reply@example.com',
    ).send(MAIL);
    const [head] = String((sent as { message: Buffer }).message).split(/\r?\n\r?\n/);
    expect(head).toMatch(/^Auto-Submitted: auto-generated\r?$/m);
    expect(head).not.toMatch(/^(List-|Precedence)/im);
  });

  it.each(['"evil@gmail.com x"@corp.com', 'evil@gmail.com, ada@corp.com', 'Ada <evil@gmail.com>'])(
    'sends to %s as one address, and extracts no other address from it',
    async (to) => {
      const sendMail = jest.fn();
      await nodemailerMailer({ sendMail }, 'no-reply@example.com').send({ ...MAIL, to });
      expect(sendMail).toHaveBeenCalledWith(expect.objectContaining({ to: { name: '', address: to } }));
      const sent = await nodemailerMailer(transport({ jsonTransport: true }), 'no-reply@example.com').send({
        ...MAIL,
        to,
      });
      const { envelope } = sent as { envelope: { to: string[] } };
      expect(envelope.to).not.toContain('evil@gmail.com');
      expect(envelope.to).toHaveLength(1);
    },
  );

  it.each(['ada@example.com\r\nBcc: eve@example.com', '"a\r\nBcc: x"@corp.com'])(
    'adds no header for %j',
    async (to) => {
      const buffered = transport({ streamTransport: true, buffer: true });
      const sent = await nodemailerMailer(buffered, 'no-reply@example.com').send({ ...MAIL, to });
      expect(String((sent as { message: Buffer }).message)).not.toMatch(/^Bcc/im);
    },
  );
});

it('nodemailerMailer names the package to install when nodemailer is missing', () => {
  expect(() => nodemailerMailer('smtp://localhost', 'x', () => false)).toThrow(/npm install nodemailer/);
});

// Older versions of nodemailer write the last two as they are.
describe('a mail to a stored text that is not one address', () => {
  const { t, mailbox } = membersForFile();

  it.each([
    '"evil@gmail.com x"@corp.com',
    '"eve@evil.com"@corp.com',
    'ada@corp.com;eve@evil.com',
    '"a\r\nBcc: x"@corp.com',
  ])('is not passed to the mailer: %j', async (email) => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const failed = t.recorded(MailFailed);
    const id = await member(t, email);
    const { accessToken } = await t.auth.startSession(id);
    await t.call('post', '/auth/email/verification-notification', accessToken).expect(202);
    await eventually(async () => failed.length > 0);
    await t.calm();
    expect(mailbox.mails).toEqual([]);
    expect(failed).toEqual([{ kind: 'emailVerification', guard: 'api', error: expect.any(Error) }]);
  });
});

describe('a mail that waits while the mail server hangs', () => {
  const { t, mailbox } = membersForFile();
  let id: string;
  let token: string;

  beforeEach(async () => {
    id = await member(t, ADA);
    token = (await t.session()).access_token;
    await hangingMails(t, mailbox);
  });

  /** Releases the mail server, waits for every mail, and returns the addresses other than {@link WAITING}. */
  async function sent(): Promise<string[]> {
    mailbox.release();
    await eventually(async () => mailbox.mails.length >= 4);
    await t.calm();
    return mailbox.mails.map(({ to }) => to).filter((to) => to !== WAITING);
  }

  const requests: [string, () => Promise<unknown>][] = [
    ['to reset a password', () => t.http.post(FORGOT).send({ email: ADA }).expect(200)],
    ['to verify an address', () => t.call('post', RESEND, token).expect(202)],
  ];

  it.each(requests)('%s is sent after the mails that were queued before it', async (_, ask) => {
    await ask();
    expect(await sent()).toEqual([ADA]);
  });

  it.each(requests)('%s is not sent when the account was erased meanwhile, and leaves no row', async (_, ask) => {
    await ask();
    await t
      .call('delete', '/auth/account', token)
      .set(CONFIRMATION_HEADER, await confirmationTokenOf(t, token))
      .expect(204);
    expect(await sent()).toEqual([]);
    expect(await t.database.query('SELECT * FROM svc_password_resets')).toEqual([]);
    expect(await tablesContaining(t, [id, ADA])).toEqual([]);
  });

  it('to verify an address is sent to the current address of the account, and not to a verified address', async () => {
    await t.call('post', RESEND, token).expect(202);
    await t.database.getRepository(Member).update({ id }, { email: 'new@example.com' });
    const eve = await member(t, 'eve@example.com');
    await t.call('post', RESEND, (await t.session('eve@example.com')).access_token).expect(202);
    await t.database.getRepository(Member).update({ id: eve }, { emailVerifiedAt: new Date() });
    expect(await sent()).toEqual(['new@example.com']);
  });
});

describe('a mail that never completes', () => {
  const never = (): Promise<never> => new Promise(() => undefined);
  let started: number;
  /** The promise that the template awaits. */
  let writing: () => Promise<unknown>;
  const passwordReset: MailTemplates['passwordReset'] = async ({ url }) => {
    started++;
    await writing();
    return { subject: 'Reset', text: url };
  };
  const mailbox = new Mailbox();
  const { t } = membersForFile({ mail: { mailer: mailbox, templates: { passwordReset } } });

  beforeEach(() => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    mailbox.clear();
    [started, writing] = [0, async () => undefined];
  });
  afterEach(() => jest.useRealTimers());

  /** Requests mails, and fakes the timers of the process before the first four are started. */
  async function ask(...addresses: string[]): Promise<void> {
    for (const address of addresses) await member(t, address);
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'clearImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    for (const email of addresses) await t.http.post(FORGOT).send({ email }).expect(200);
    while (started < Math.min(4, addresses.length)) await tick();
  }

  it.each([
    ['its template hangs', () => (writing = never)],
    ['the mail server hangs', () => (mailbox.deliver = never)],
  ])('fails after a minute and frees its place in the queue, when %s', async (_, hang) => {
    const failed = t.recorded(MailFailed);
    hang();
    await ask(...[0, 1, 2, 3, 4, 5].map((i) => `ada${i}@example.com`));
    await jest.advanceTimersByTimeAsync(59_000);
    expect([started, failed]).toEqual([4, []]);
    [writing, mailbox.deliver] = [async () => undefined, async () => undefined];
    await jest.advanceTimersByTimeAsync(1_500);
    jest.useRealTimers();
    await mailbox.nth(2);
    expect(failed).toHaveLength(4);
    expect(mailbox.mails.map(({ to }) => to).toSorted()).toEqual(['ada4@example.com', 'ada5@example.com']);
  });

  it('is not sent when its template completes after the failure was reported', async () => {
    const failed = t.recorded(MailFailed);
    let finish = (): void => undefined;
    const late = new Promise<void>((resolve) => (finish = resolve));
    writing = () => late;
    await ask(ADA);
    await jest.advanceTimersByTimeAsync(60_500);
    jest.useRealTimers();
    expect(failed).toHaveLength(1);
    finish();
    await t.calm();
    expect(mailbox.mails).toEqual([]);
  });
});
