import { MailFailed, PasswordHasher } from '@svc/auth';
import { Logger } from '@nestjs/common';
import type { Response } from 'supertest';
import { sha256 } from '../../libs/auth/src/kernel/secrets';
import { MailQueue } from '../../libs/auth/src/mail/mail-queue';
import { Realms } from '../../libs/auth/src/realm/realm';
import type { TestApp } from '../support/app';
import { type Mailbox, RESET_URL, linkIn, member, startMembers } from '../support/members';
import { statementsOf } from '../support/statements';

const ADA = 'ada@example.com';

describe('POST /forgot-password', () => {
  let t: TestApp;
  let mailbox: Mailbox;
  let id: string;

  beforeEach(async () => {
    ({ t, mailbox } = await startMembers());
    id = await member(t, ADA);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await t.stop();
  });

  const forgot = (email: unknown = ADA) => t.http.post('/auth/forgot-password').send({ email });
  const rows = () => t.database.query('SELECT * FROM svc_password_resets');

  it('answers 200, and mails a link to the configured page', async () => {
    const { body, headers } = await forgot().expect(200);
    expect(body).toEqual({ status: 'password-reset-link-sent' });
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private', pragma: 'no-cache' });
    const mail = await mailbox.nth(1);
    expect(mail).toMatchObject({ to: ADA, subject: 'Reset your password at api.example.com' });
    expect(mail.text).toContain(`${RESET_URL}?token=`);
    expect(mail.text).toContain('&email=ada%40example.com');
    expect(linkIn(mail).searchParams.get('token')).toMatch(/^[0-9a-f]{64}$/);
  });

  it('keeps only hashes, one row for an account', async () => {
    await forgot().expect(200);
    const token = linkIn(await mailbox.nth(1)).searchParams.get('token')!;
    const stored = await rows();
    expect(stored).toEqual([
      {
        guard: 'api',
        broker: '',
        user_id: id,
        email_hash: sha256(ADA),
        token_hash: sha256(token),
        created_at: expect.any(Date),
      },
    ]);
    t.clock.advance(61);
    await forgot().expect(200);
    await mailbox.nth(2);
    expect(await rows()).toHaveLength(1);
    expect(JSON.stringify(await rows())).not.toContain(sha256(token));
  });

  it('mails an address once in a minute, however many ask at once and however they spell it', async () => {
    const spellings = [ADA, 'ADA@example.com', ' Ada@Example.COM '];
    await Promise.all(Array.from({ length: 30 }, (_, i) => forgot(spellings[i % 3]).expect(200)));
    t.clock.advance(59);
    await forgot().expect(200);
    await t.app.close();
    expect(mailbox.mails).toHaveLength(1);
    // To the address as it is stored, whatever was asked for.
    expect(mailbox.mails[0]!.to).toBe(ADA);
  });

  it('builds the link from the configured URL, whatever the request says', async () => {
    await forgot()
      .set('Host', 'evil.test')
      .set('X-Forwarded-Host', 'evil.test')
      .set('X-Forwarded-Proto', 'gopher')
      .set('X-Forwarded-Prefix', '/evil')
      .set('Origin', 'https://evil.test')
      .set('Referer', 'https://evil.test/')
      .expect(200);
    const { text } = await mailbox.nth(1);
    expect(text).toContain(`${RESET_URL}?token=`);
    expect(text).not.toContain('evil');
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['a list', [ADA]],
    ['no address', 'ada'],
    ['two addresses', `${ADA},eve@example.com`],
    ['a line break', `${ADA}\nBcc: eve@example.com`],
    ['a quoted line break', '"a\r\nBcc: x"@corp.com'],
    ['half a surrogate pair', 'ada\ud800@example.com'],
    ['an address inside another', '"evil@gmail.com x"@corp.com'],
    ['256 characters', `${'x'.repeat(244)}@example.com`],
  ])('answers 422 by field for %s', async (_, email) => {
    const { body } = await t.http.post('/auth/forgot-password').send({ email }).expect(422);
    expect(Object.keys(body.errors)).toEqual(['email']);
  });

  it('does without the account`s first name for a link in the mail of a host', async () => {
    await t.stop();
    const passwordReset = async ({ user, url }: { user: object; url: string }) => ({
      subject: 'Neues Passwort',
      text: `Hallo ${(user as { name: string }).name}: ${url}`,
      html: `<a href="${url}">Neues Passwort</a>`,
      to: 'eve@example.com',
    });
    const options = { mail: { mailer: mailbox, templates: { passwordReset } } };
    ({ t } = await startMembers({ ...options, passwordReset: { frontendUrl: 'https://app.test/#/reset?lang=de' } }));
    await member(t, ADA);
    await forgot().expect(200);
    const mail = await mailbox.nth(1);
    expect(mail).toMatchObject({ to: ADA, subject: 'Neues Passwort', html: expect.stringContaining('<a href') });
    expect(mail.text).toContain('Hallo Ada: https://app.test/#/reset?lang=de&token=');
  });

  const shape = ({ status, text, headers: { date: _, 'x-ratelimit-remaining': __, ...headers } }: Response) => ({
    status,
    text,
    headers,
  });

  it('answers known, unknown and throttled addresses and broken mail with the same bytes and headers', async () => {
    const known = await forgot();
    const throttled = await forgot();
    const unknown = await forgot('nobody@example.com');
    t.clock.advance(61);
    mailbox.deliver = () => Promise.reject(new Error('no route to host'));
    const broken = await forgot();
    for (const answer of [throttled, unknown, broken]) expect(shape(answer)).toEqual(shape(known));
  });

  it('does the same work before it answers, whoever asks: one look-up, and no hash', async () => {
    const hash = jest.spyOn(t.app.get(PasswordHasher), 'hash');
    const statements = await statementsOf(t);
    // What is done behind the answer is not done at all.
    jest.spyOn(t.app.get(Realms).default.get(MailQueue), 'add').mockReturnValue(undefined);
    const work = async (email: string): Promise<unknown[]> => {
      statements.mockClear();
      await forgot(email).expect(200);
      return statements.mock.calls.map(([text]) => text);
    };
    const [first, ...others] = [await work(ADA), await work('nobody@example.com'), await work(ADA)];
    expect(first).toHaveLength(1);
    for (const other of others) expect(other).toEqual(first);
    expect(hash).not.toHaveBeenCalled();
  });

  it('takes a time that says nothing of the address, of throttling or of the mail server', async () => {
    for (let i = 0; i < 40; i++) await member(t, `known${i}@example.com`);
    mailbox.deliver = () => new Promise((resolve) => setTimeout(resolve, 50));
    const times: Record<string, number[]> = { known: [], unknown: [], throttled: [] };
    const measure = async (kind: string, email: string): Promise<void> => {
      const started = performance.now();
      await forgot(email).expect(200);
      times[kind]!.push(performance.now() - started);
    };
    await forgot().expect(200);
    for (let i = 0; i < 40; i++) {
      await measure('known', `known${i}@example.com`);
      await measure('unknown', `nobody${i}@example.com`);
      await measure('throttled', ADA);
    }
    const quartiles = Object.values(times).map((all) => {
      const sorted = all.toSorted((a, b) => a - b);
      return [sorted[10]!, sorted[30]!] as const;
    });
    // The middle halves of all three overlap: no threshold tells one from another.
    expect(Math.max(...quartiles.map(([low]) => low))).toBeLessThan(Math.min(...quartiles.map(([, high]) => high)));
  });

  it.each<[string, (mailbox: Mailbox) => void]>([
    ['refuses', (box) => (box.deliver = async () => Promise.reject(named('EENVELOPE', 550)))],
    ['throws', (box) => (box.send = () => throwing())],
  ])('tells of a mail server that %s by an event and a line without address and link', async (_, breakIt) => {
    const failed = t.recorded(MailFailed);
    const lines = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    breakIt(mailbox);
    await forgot().expect(200);
    await t.app.close();
    expect(failed).toEqual([{ kind: 'passwordReset', guard: 'api', error: expect.any(Error) }]);
    const logged = JSON.stringify(lines.mock.calls);
    expect(logged).toMatch(/a mail \(passwordReset\) was not sent: \w+/);
    expect(logged).not.toMatch(/ada|token|[0-9a-f]{64}/);
  });

  it('answers at once while the mail server hangs, and sends what waits before the application ends', async () => {
    let release = (): void => undefined;
    const hanging = new Promise<void>((resolve) => (release = resolve));
    mailbox.deliver = () => hanging;
    const started = performance.now();
    await forgot().expect(200);
    expect(performance.now() - started).toBeLessThan(5000);
    const closed = t.app.close();
    release();
    await closed;
    expect(mailbox.mails).toHaveLength(1);
  });

  it('is 503 while the users cannot be asked', async () => {
    jest.spyOn(t.database, 'createQueryRunner').mockImplementation(() => {
      throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' });
    });
    await forgot().expect(503);
  });
});

const named = (code: string, responseCode: number): Error =>
  Object.assign(new Error(`550 5.1.1 <${ADA}> unknown`), { code, responseCode });

function throwing(): never {
  throw new TypeError(`cannot mail ${ADA}`);
}
