import { Logger } from '@nestjs/common';
import { MailFailed, type MailTemplates } from '@svc/auth';
import { setImmediate as tick } from 'node:timers/promises';
import { Realms } from '../../libs/auth/src/realm/realm';
import { MailQueue } from '../../libs/auth/src/mail/mail-queue';
import type { TestApp } from '../support/app';
import { ADA, HEADER, proofOf } from '../support/confirming';
import { Mailbox, member, startMembers } from '../support/members';
import { Member } from '../support/people';
import { mentions } from '../support/mentions';

const FORGOT = '/auth/forgot-password';
const RESEND = '/auth/email/verification-notification';

describe('a mail that waits while the mail server hangs', () => {
  let t: TestApp;
  let mailbox: Mailbox;
  let id: string;
  let token: string;
  let release: () => void;

  beforeEach(async () => {
    ({ t, mailbox } = await startMembers());
    id = await member(t, ADA);
    token = (await t.session()).access_token;
    const hanging = new Promise<void>((resolve) => (release = resolve));
    const deliver = jest.fn(() => hanging);
    mailbox.deliver = deliver;
    const queue = t.app.get(Realms).default.get(MailQueue);
    const mail = { to: 'bob@example.com', subject: 'Hello', text: '' };
    for (let i = 0; i < 4; i++) queue.add('passwordReset', async () => mail);
    while (deliver.mock.calls.length < 4) await tick();
  });
  afterEach(() => t.stop());

  /** The mails to the account, once all that waited are sent. */
  async function sent(): Promise<string[]> {
    release();
    await t.app.close();
    return mailbox.mails.map(({ to }) => to).filter((to) => to !== 'bob@example.com');
  }

  const asked: [string, () => Promise<unknown>][] = [
    ['to reset a password', () => t.http.post(FORGOT).send({ email: ADA }).expect(200)],
    ['to verify an address', () => t.call('post', RESEND, token).expect(202)],
  ];

  it.each(asked)('%s goes out once the others have', async (_, ask) => {
    await ask();
    expect(await sent()).toEqual([ADA]);
  });

  it.each(asked)('%s goes to nobody whose account was erased meanwhile, and leaves no row', async (_, ask) => {
    await ask();
    await t
      .call('delete', '/auth/account', token)
      .set(HEADER, await proofOf(t, token))
      .expect(204);
    const { databaseUrl } = t;
    expect(await sent()).toEqual([]);
    const { t: later } = await startMembers({}, { databaseUrl });
    expect(await later.database.query('SELECT * FROM svc_password_resets')).toEqual([]);
    expect(await mentions(later, [id, ADA])).toEqual([]);
    await later.stop();
  });

  it('to verify an address goes to the one that the account has by then, and to none that was verified', async () => {
    await t.call('post', RESEND, token).expect(202);
    await t.database.getRepository(Member).update({ id }, { email: 'new@example.com' });
    const eve = await member(t, 'eve@example.com');
    await t.call('post', RESEND, (await t.session('eve@example.com')).access_token).expect(202);
    await t.database.getRepository(Member).update({ id: eve }, { emailVerifiedAt: new Date() });
    expect(await sent()).toEqual(['new@example.com']);
  });
});

describe('a mail that never ends', () => {
  const never = (): Promise<never> => new Promise(() => undefined);
  let t: TestApp;
  let mailbox: Mailbox;
  let begun: number;
  /** What the template waits for. */
  let writing: () => Promise<unknown>;

  beforeEach(async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    [begun, writing, mailbox] = [0, async () => undefined, new Mailbox()];
    const passwordReset: MailTemplates['passwordReset'] = async ({ url }) => {
      begun++;
      await writing();
      return { subject: 'Reset', text: url };
    };
    ({ t } = await startMembers({ mail: { mailer: mailbox, templates: { passwordReset } } }));
  });
  afterEach(async () => {
    jest.useRealTimers();
    await t.stop();
  });

  /** Asks for mails, and has the clock of the process stand still as soon as the first four are begun. */
  async function ask(...addresses: string[]): Promise<void> {
    for (const address of addresses) await member(t, address);
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'clearImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    for (const email of addresses) await t.http.post(FORGOT).send({ email }).expect(200);
    while (begun < Math.min(4, addresses.length)) await tick();
  }

  it.each([
    ['its template hangs', () => (writing = never)],
    ['the mail server hangs', () => (mailbox.deliver = never)],
  ])('fails after a minute and keeps nobody`s place, when %s', async (_, hang) => {
    const failed = t.recorded(MailFailed);
    hang();
    await ask(...[0, 1, 2, 3, 4, 5].map((i) => `ada${i}@example.com`));
    await jest.advanceTimersByTimeAsync(59_000);
    expect([begun, failed]).toEqual([4, []]);
    [writing, mailbox.deliver] = [async () => undefined, async () => undefined];
    await jest.advanceTimersByTimeAsync(1_500);
    jest.useRealTimers();
    await mailbox.nth(2);
    expect(failed).toHaveLength(4);
    expect(mailbox.mails.map(({ to }) => to).toSorted()).toEqual(['ada4@example.com', 'ada5@example.com']);
  });

  it('is not sent when its template ends after all: it was told as a failure by then', async () => {
    const failed = t.recorded(MailFailed);
    let finish = (): void => undefined;
    const late = new Promise<void>((resolve) => (finish = resolve));
    writing = () => late;
    await ask(ADA);
    await jest.advanceTimersByTimeAsync(60_500);
    jest.useRealTimers();
    expect(failed).toHaveLength(1);
    finish();
    await t.app.close();
    expect(mailbox.mails).toEqual([]);
  });
});
