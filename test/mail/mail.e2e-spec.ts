import { MailFailed, nodemailerMailer } from '@svc/auth';
import { Logger } from '@nestjs/common';
import { createTransport } from 'nodemailer';
import { MailQueue } from '../../libs/auth/src/mail/mail-queue';
import { Realms } from '../../libs/auth/src/realm/realm';
import { member, startMembers } from '../support/members';

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

  it.each(['"evil@gmail.com x"@corp.com', 'evil@gmail.com, ada@corp.com', 'Ada <evil@gmail.com>'])(
    'takes %s for one address, and reads no other out of it',
    async (to) => {
      const sendMail = jest.fn();
      await nodemailerMailer({ sendMail }, 'no-reply@example.com').send({ ...MAIL, to });
      expect(sendMail).toHaveBeenCalledWith(expect.objectContaining({ to: { name: '', address: to } }));
      const sent = await nodemailerMailer({ jsonTransport: true }, 'no-reply@example.com').send({ ...MAIL, to });
      const { envelope } = sent as { envelope: { to: string[] } };
      expect(envelope.to).not.toContain('evil@gmail.com');
      expect(envelope.to).toHaveLength(1);
    },
  );

  it.each(['ada@example.com\r\nBcc: eve@example.com', '"a\r\nBcc: x"@corp.com'])(
    'writes no other header for %j',
    async (to) => {
      const transport = { streamTransport: true, buffer: true };
      const sent = await nodemailerMailer(transport, 'no-reply@example.com').send({ ...MAIL, to });
      expect(String((sent as { message: Buffer }).message)).not.toMatch(/^Bcc/im);
    },
  );

  it('says what to install where nodemailer is missing', () => {
    expect(() => nodemailerMailer('smtp://localhost', 'x', () => undefined)).toThrow(/npm install nodemailer/);
  });
});

describe('a mail to a stored address that is none', () => {
  it.each(['"evil@gmail.com x"@corp.com', '"a\r\nBcc: x"@corp.com'])(
    'is not handed to the mailer: %j',
    async (email) => {
      jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
      const { t, mailbox } = await startMembers();
      const failed = t.recorded(MailFailed);
      const id = await member(t, email);
      const { accessToken } = await t.auth.startSession(id);
      await t.call('post', '/auth/email/verification-notification', accessToken).expect(202);
      await t.app.close();
      expect(mailbox.mails).toEqual([]);
      expect(failed).toEqual([{ kind: 'emailVerification', guard: 'api', error: expect.any(Error) }]);
      await t.stop();
    },
  );
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
