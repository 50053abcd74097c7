import { Logger } from '@nestjs/common';
import { linkIn } from '@svc/auth/testing';
import { setImmediate as tick } from 'node:timers/promises';
import { ADA, CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { API_URL, Mailbox, member, membersForFile } from '../support/hosts/members';
import { Member, PASSWORD } from '../support/hosts/user-entities';

const NEW = 'ada@new.example';
const VERIFIED = { emailVerifiedAt: new Date(0) };
const FORGOT = '/auth/forgot-password';

describe('mail.recipientName with a column', () => {
  const mailbox = new Mailbox();
  const { t } = membersForFile({
    features: { emailCode: true, emailChange: true },
    mail: { mailer: mailbox, recipientName: 'name', notices: ['passwordChanged'] },
  });
  beforeEach(() => mailbox.clear());

  const forgotten = async () => {
    await t.http.post(FORGOT).send({ email: ADA }).expect(200);
    return mailbox.to(ADA);
  };

  it.each([
    ['a reset of the password', forgotten],
    [
      'a code to sign in with',
      async () => {
        await t.http.post('/auth/login/code').send({ email: ADA }).expect(202);
        return mailbox.to(ADA);
      },
    ],
    [
      'a change of another account to its address',
      async () => {
        await member(t, 'eve@example.com', { name: 'Eve', ...VERIFIED });
        await changeEmail(ADA, 'eve@example.com');
        return mailbox.to(ADA);
      },
    ],
  ])('greets the owner of a verified address: %s', async (_, cause) => {
    await member(t, ADA, { name: "Ada O'Neil", ...VERIFIED });
    const { text, html, subject } = await cause();
    expect(text).toMatch(/^[^\n]+\n\nHello Ada O'Neil,\n\n/);
    expect(html).toContain('>Hello Ada O&#39;Neil,</p>');
    expect(`${subject} ${text} ${html}`).not.toMatch(/evil|Eve/);
  });

  it.each([
    ['Win at evil.com'],
    ['<a href=x>Ada</a>'],
    ['Ada\u2028https://evil.test'],
    ['Call 0800 123 456'],
    ['You have won. '.repeat(9)],
  ])('mails without the name %j', async (name) => {
    await member(t, ADA, { name, ...VERIFIED });
    const { text, html } = await forgotten();
    for (const content of [text, html]) expect(content).not.toMatch(/Hello|evil|<a href=x|0800 123|have won/);
  });

  async function changeEmail(email: string, from: string): Promise<void> {
    const { access_token: token } = await t.session(from);
    const proof = await confirmationTokenOf(t, token);
    await t.call('post', '/auth/email/change', token).set(CONFIRMATION_HEADER, proof).send({ email }).expect(202);
  }

  it('names no one to the address of a registration, until a person has proved it', async () => {
    const form = { name: 'Ada', email: ADA, password: PASSWORD, password_confirmation: PASSWORD };
    await t.http.post('/auth/register').send(form).expect(200);
    const first = await mailbox.to(ADA);
    const path = linkIn(first).href.replace(API_URL, '');
    /** Whether a further mail names the user. A reset is mailed once a minute. */
    const isNamed = async (): Promise<boolean> => {
      t.clock.advance(61);
      mailbox.clear();
      return (await forgotten()).text.includes('Hello Ada,');
    };
    expect(first.text).not.toContain('Hello');
    expect(await isNamed()).toBe(false);
    // A program that opens the links of mails is no proof of a person.
    await t.http.get(path).set('Accept', 'application/json').expect(204);
    expect(await isNamed()).toBe(false);
    const { access_token } = await t.session(ADA);
    await t.call('post', path, access_token).expect(204);
    expect(await isNamed()).toBe(true);
  });

  it('names no one in the mails about a change of the email: they go to another address than that of the account', async () => {
    await member(t, ADA, VERIFIED);
    await changeEmail(NEW, ADA);
    const mail = await mailbox.to(NEW);
    const token = linkIn(mail).searchParams.get('token');
    await t.http.post('/auth/email/change/confirm').send({ token }).expect(200);
    for (const { text, html } of [mail, await mailbox.to(ADA)])
      for (const content of [text, html]) expect(content).not.toMatch(/Hello|Ada\b(?!@)/);
  });
});

describe('mail.recipientName with a function', () => {
  const mailbox = new Mailbox();
  let nameOf: (user: Member, context: { guard: string }) => unknown;
  const seen: unknown[] = [];
  const { t } = membersForFile({
    mail: {
      mailer: mailbox,
      recipientName: (user, context) => nameOf(user as Member, context) as string,
      templates: {
        passwordReset: (mail, builtIn) => (seen.push('name' in mail ? mail.name : 'none'), builtIn),
      },
    },
  });
  beforeEach(async () => {
    mailbox.clear();
    seen.length = 0;
    await member(t, ADA, { name: 'Ada', ...VERIFIED });
  });

  const text = async (): Promise<string> => {
    await t.http.post(FORGOT).send({ email: ADA }).expect(200);
    return (await mailbox.to(ADA)).text;
  };

  it('may be asynchronous, gets the user and the guard, and gives the name to the templates', async () => {
    nameOf = async ({ name }, { guard }) => (await tick(), `${name} of ${guard}`);
    expect(await text()).toContain('Hello Ada of api,');
    expect(seen).toEqual(['Ada of api']);
  });

  it.each([
    ['null', () => null],
    ['undefined', () => undefined],
    ['a link', () => 'https://evil.test'],
    ['no text', () => 7],
  ])('may return %s, and the mail has no name', async (_, returned) => {
    nameOf = returned;
    expect(await text()).not.toContain('Hello');
    expect(seen).toEqual(['none']);
  });

  it('may fail, and the mail has no name and the log says why', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    nameOf = () => {
      throw new Error('no name');
    };
    expect(await text()).not.toContain('Hello');
    expect(warn).toHaveBeenCalledWith(
      expect.stringMatching(/^mail\.recipientName failed; the mail is without a name: /),
    );
  });

  it('is shown in the previews, with an example where there is no user', async () => {
    nameOf = ({ name }) => name;
    const named = async (user?: object) => (await t.auth.previewMails('en', user))[0]!.text.split('\n\n')[1];
    expect(await named({ name: 'Grace' })).toBe('Hello Grace,');
    expect(await named()).toBe('Hello Ada,');
  });
});

describe('without the state of a verification', () => {
  const mailbox = new Mailbox();
  const { t } = membersForFile({
    features: { emailVerification: false },
    mail: { mailer: mailbox, recipientName: 'name' },
  });
  beforeEach(() => mailbox.clear());

  it('a mail names only users whom the host has marked as verified', async () => {
    for (const [email, more] of [
      [ADA, VERIFIED],
      [NEW, {}],
    ] as const) {
      await member(t, email, { name: 'Ada', ...more });
      await t.http.post(FORGOT).send({ email }).expect(200);
      expect((await mailbox.to(email)).text.includes('Hello Ada,')).toBe(email === ADA);
    }
  });
});
