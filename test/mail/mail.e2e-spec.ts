import { MailFailed, nodemailerMailer } from '@svc/auth';
import { Logger } from '@nestjs/common';
import { createTransport } from 'nodemailer';
import { MailQueue } from '../../libs/auth/src/mail/mail-queue';
import { Realms } from '../../libs/auth/src/realm/realm';
import { startMembers } from '../support/members';

const MAIL = { to: 'ada@example.com', subject: 'Hello', text: 'A text', html: '<p>A text</p>' };

describe('nodemailerMailer', () => {
  it.each<[string, Parameters<typeof nodemailerMailer>[0]]>([
    ['a transporter', createTransport({ jsonTransport: true })],
    ['what one is made of', { jsonTransport: true }],
  ])('sends with %s, from the configured sender', async (_, transport) => {
    const sent = (await nodemailerMailer(transport, 'Example <no-reply@example.com>').send(MAIL)) as {
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

  it('says what to install where nodemailer is missing', () => {
    expect(() => nodemailerMailer('smtp://localhost', 'x', () => undefined)).toThrow(/npm install nodemailer/);
  });
});

describe('the mails that wait', () => {
  it('are bounded: one too many is a failure like any other, and no request is', async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const { t, mailbox } = await startMembers();
    const failed = t.recorded(MailFailed);
    let release = (): void => undefined;
    const hanging = new Promise<void>((resolve) => (release = resolve));
    mailbox.deliver = () => hanging;
    const queue = t.app.get(Realms).default.get(MailQueue);
    for (let i = 0; i < 4; i++) queue.add('passwordReset', async () => MAIL);
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (let i = 0; i < 1001; i++) queue.add('passwordReset', async () => MAIL);
    expect(failed).toEqual([{ kind: 'passwordReset', guard: 'api', error: expect.any(Error) }]);
    release();
    await t.app.close();
    expect(mailbox.mails).toHaveLength(1004);
    await t.stop();
  });
});
