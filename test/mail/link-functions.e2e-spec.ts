import { Logger } from '@nestjs/common';
import { type Mail, MailFailed } from '@svc/auth';
import { EmailChangeApp, NEW } from '../support/flows/email-change';
import { report, signInOn } from '../support/flows/known-devices';
import { ADA } from '../support/hosts/user-entities';
import { eventually } from '../support/runtime/eventually';
import { linkIn } from '../support/hosts/members';

const NEXT = 'another horse entirely';
const PAGE = 'https://app.example.test';

/** A host with an address whose links cannot be mailed: the function returns another text for it. */
const linkTo =
  (page: string) =>
  (secret: string, email: string, { guard }: { guard: string }): string =>
    email === 'bad@example.com'
      ? `${PAGE}/${secret} `
      : `${PAGE}/${guard}/${page}/${secret}/${encodeURIComponent(email)}`;

const ofPage = (page: string, email: string): RegExp =>
  new RegExp(`^${PAGE}/api/${page}/([0-9a-f]+)/${encodeURIComponent(email)}$`);

describe('a function for the link in a mail', () => {
  const app = EmailChangeApp.forFile({
    features: { knownDevices: true, emailCode: true },
    passwordReset: { frontendUrl: linkTo('reset') },
    emailChange: { confirmUrl: linkTo('confirm'), undoUrl: linkTo('undo') },
    knownDevices: { frontendUrl: linkTo('report') },
    emailCode: { frontendUrl: (code) => `${PAGE}/sign-in#${code}` },
  });
  const { t, mailbox } = app;

  /** The token in the link of the newest mail to an address. */
  const tokenTo = async (email: string, page: string, number = 1): Promise<string> => {
    const [, token] = ofPage(page, email).exec(linkIn(await app.mailTo(email, number)).href) ?? [];
    return token!;
  };

  it('makes the link of a reset, which replaces the password', async () => {
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    const token = await tokenTo(ADA, 'reset');
    const body = { token, email: ADA, password: NEXT, password_confirmation: NEXT };
    await t.http.post('/auth/reset-password').send(body).expect(200);
    await t.login(ADA, NEXT).expect(200);
  });

  it('makes the links of a change of email and of its undo', async () => {
    await app.request(NEW).expect(202);
    await app.confirm(await tokenTo(NEW, 'confirm')).expect(200);
    await app.undo(await tokenTo(ADA, 'undo')).expect(200);
    expect(await t.database.query('SELECT email FROM members')).toEqual([{ email: ADA }]);
  });

  it('makes the link that reports a sign-in, and the link with a mailed code', async () => {
    await signInOn(t);
    await signInOn(t);
    await report(t, await tokenTo(ADA, 'report')).expect(200);
    const { body } = await t.http.post('/auth/login/code').send({ email: ADA }).expect(202);
    const isOfCode = (mail: Mail): boolean => linkIn(mail).pathname === '/sign-in';
    await eventually(async () => mailbox.mails.some(isOfCode));
    const { hash } = linkIn(mailbox.mails.find(isOfCode)!);
    expect(hash).toMatch(/^#\d{8}$/);
    const answer = { code_token: body.code_token, code: hash.slice(1) };
    await t.http.post('/auth/login/code/verify').send(answer).expect(200);
  });

  it('that returns no valid link mails and logs nothing of it, and the answer is the same', async () => {
    const failed = t.recorded(MailFailed);
    const lines = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const email = 'bad@example.com';
    await t.database.query('UPDATE members SET email = $1', [email]);
    const { body } = await t.http.post('/auth/forgot-password').send({ email }).expect(200);
    expect(body).toEqual({ status: 'password-reset-link-sent' });
    await eventually(async () => failed.length > 0);
    expect(mailbox.mails).toEqual([]);
    const told = JSON.stringify(lines.mock.calls) + String((failed[0]!.error as Error).stack);
    expect(told).toMatch(/AuthConfigError/);
    expect(told).not.toMatch(/bad@|[0-9a-f]{64}|app\.example\.test/);
  });
});
