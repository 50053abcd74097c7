import { Logger } from '@nestjs/common';
import { MailFailed } from '@svc/auth';
import { setImmediate as tick } from 'node:timers/promises';
import { EmailChangeApp, NEW } from '../support/flows/email-change';
import { knownDeviceOptions, newDevice, report, signInOn } from '../support/flows/known-devices';
import { Mailbox, linkIn, member, membersForFile } from '../support/hosts/members';
import { ADA, CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';

/** The first retry follows after this time. */
const RETRY_MS = 30_000;

/** Fakes the timers, before the one of a retry is set. */
const fakeTimers = (): unknown =>
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'clearImmediate', 'nextTick', 'queueMicrotask', 'performance'] });

/** Refuses the next mail to Ada. */
function refuseNext(mailbox: Mailbox): void {
  fakeTimers();
  let refusals = 0;
  mailbox.deliver = async ({ to }) => {
    if (to === ADA && refusals++ === 0) throw new Error('451 try again later');
  };
}

/** Waits for the refusal, and for the retry. */
async function retried(mailbox: Mailbox, failed: MailFailed[]): Promise<void> {
  while (failed.length === 0) await tick();
  expect(mailbox.mails.filter(({ to }) => to === ADA)).toEqual([]);
  await jest.advanceTimersByTimeAsync(RETRY_MS);
  jest.useRealTimers();
}

describe('a mail to the owner of an account that the mail server refuses', () => {
  const app = EmailChangeApp.forFile(knownDeviceOptions());
  const { t, mailbox } = app;
  let failed: MailFailed[];

  beforeEach(() => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    failed = t.recorded(MailFailed);
  });
  afterEach(() => jest.useRealTimers());

  it('is sent again: the one about a new sign-in, with a link that works', async () => {
    refuseNext(mailbox);
    const { body } = await signInOn(t);
    await retried(mailbox, failed);
    await report(t, linkIn(await mailbox.to(ADA)).searchParams.get('token')).expect(200);
    await t.get('/private', body.access_token).expect(401);
  });

  it('stays due: the one about a new sign-in is sent at the next sign-in on the device, and then once', async () => {
    let isRefusing = true;
    mailbox.deliver = async () => {
      if (isRefusing) throw new Error('451 try again later');
    };
    const device = await newDevice(t);
    while (failed.length === 0) await tick();
    isRefusing = false;
    for (let i = 0; i < 3; i++) await signInOn(t, device);
    await mailbox.to(ADA);
    await app.settled();
    expect(mailbox.mails).toHaveLength(1);
  });

  it('is sent again: the one with the undo of a change of email', async () => {
    const token = await app.requested();
    refuseNext(mailbox);
    await app.confirm(token).expect(200);
    await retried(mailbox, failed);
    await app.undo(linkIn(await mailbox.to(ADA)).searchParams.get('token')).expect(200);
    expect(mailbox.mails[0]!.to).toBe(NEW);
  });

  it('is not sent again if a person can request another one', async () => {
    refuseNext(mailbox);
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    await retried(mailbox, failed);
    await app.settled();
    expect(mailbox.mails).toEqual([]);
  });
});

describe('a notice that the mail server refuses', () => {
  const mailbox = new Mailbox();
  const { t } = membersForFile({ mail: { mailer: mailbox, notices: ['accountDeleted'] } });
  afterEach(() => jest.useRealTimers());

  it('is sent again, also about an account that was deleted', async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const failed = t.recorded(MailFailed);
    await member(t, ADA, { emailVerifiedAt: new Date(0) });
    const { access_token: token } = await t.session(ADA);
    const proof = await confirmationTokenOf(t, token);
    refuseNext(mailbox);
    await t.call('delete', '/auth/account', token).set(CONFIRMATION_HEADER, proof).expect(204);
    await retried(mailbox, failed);
    expect((await mailbox.to(ADA)).subject).toMatch(/deleted/);
  });
});

describe('a change of email whose undo cannot be mailed', () => {
  const app = EmailChangeApp.forFile();

  it('is refused with 429 before anything has changed, and can be repeated', async () => {
    const { t } = app;
    // There and back: the address gets five mails.
    for (let i = 0; i < 5; i++) {
      await app.changed(NEW, ADA);
      await app.signIn(NEW);
      await app.changed(ADA, NEW);
      await app.signIn(ADA);
    }
    const token = await app.requested('ada@third.example');
    const refused = await app.confirm(token).expect(429);
    expect(refused.headers).toHaveProperty('retry-after');
    expect(await app.stored()).toEqual({ email: ADA, verified: true });
    await t.reset();
  });
});
