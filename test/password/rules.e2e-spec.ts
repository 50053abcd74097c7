import { PwnedPasswords } from '@svc/auth';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { TestApp } from '../support/hosts/app';
import { ADA } from '../support/flows/step-up';
import { eventually } from '../support/runtime/eventually';
import { linkIn, member, membersForFile, startMembers } from '../support/hosts/members';
import { PASSWORD } from '../support/hosts/user-entities';

const listed = (name: string): string[] =>
  readFileSync(join(__dirname, '../vectors/passwords', name), 'utf8')
    .split('\n')
    .filter(Boolean);
const COMMON = listed('top3000_min8.txt');

type Choose = (password: string) => Promise<{ status: number; body: { errors?: Record<string, string[]> } }>;

describe('a new password', () => {
  const { t, mailbox } = membersForFile({ passwords: { blockList: ['Acme Orders'] }, appName: 'Acme Order Book' });
  const ways: Record<string, Choose> = {};
  let n = 0;

  beforeEach(async () => {
    await member(t, ADA);
    const { access_token: token } = await t.session();
    await t.http.post('/auth/forgot-password').send({ email: ADA });
    const reset = linkIn(await mailbox.nth(1)).searchParams.get('token');
    const both = (password: string) => ({ password, password_confirmation: password });
    ways.registration = (password) =>
      t.http.post('/auth/register').send({ name: 'x', email: `new${n++}@example.com`, ...both(password) });
    ways.reset = (password) =>
      t.http.post('/auth/reset-password').send({ token: reset, email: ADA, ...both(password) });
    ways.change = (password) =>
      t.call('post', '/auth/password', token).send({ current_password: PASSWORD, ...both(password) });
  });

  // A spec beside the list checks each of the 3000.
  it.each(['registration', 'reset', 'change'])(
    'must not be one of the 3000 most common passwords at %s',
    async (way) => {
      const sample = COMMON.filter((_, i) => i % 75 === 0);
      const answers = await Promise.all(sample.map((password) => ways[way]!(password)));
      const refused = { password: [expect.stringContaining('most common')] };
      expect(answers.map(({ body }) => body.errors)).toEqual(sample.map(() => refused));
    },
  );

  it('must not be a common long password, in any case, forwards or backwards, or one of the host`s list', async () => {
    const words = listed('top_min15.txt');
    const backwards = words.map((word) => [...word].toReversed().join(''));
    for (const word of [...words, ...words.map((entry) => entry.toUpperCase()), ...backwards, 'ACME orders']) {
      expect((await ways.registration!(word)).status).toBe(422);
    }
  });

  it.each(['AcmeOrderBook', 'acme order book', 'Acme.Order.Book!'])(
    'must not be the name of the application: %s',
    async (password) => {
      const { status, body } = await ways.registration!(password);
      expect(status).toBe(422);
      expect(body.errors).toEqual({ password: [expect.stringMatching(/your own name or email/)] });
    },
  );

  it.each([
    ['64 characters', 'a passphrase of sixty-four characters is welcome here, of course'],
    ['255 characters', 'x'.repeat(254) + 'y'],
    ['emoji', '🐎🔋📎✏️🐎🔋📎'],
    ['lower case alone', 'correct horse battery staple'],
    ['digits that are in no list', '48151623424815162342'],
    ['leading and trailing spaces', '  surrounded  '],
    ['other scripts', 'правильная лошадь'],
  ])('may be %s, and is stored exactly as typed', async (_, password) => {
    const email = `new${n}@example.com`;
    expect((await ways.registration!(password)).status).toBe(200);
    await t.login(email, password).expect(200);
    await t.login(email, `${password} `).expect(422);
    await t.login(email, password.slice(1)).expect(422);
  });

  it('is compared beyond the 72nd byte', async () => {
    const email = `new${n}@example.com`;
    const head = 'a long sentence without end, '.repeat(3).slice(0, 72);
    expect((await ways.registration!(`${head}x`)).status).toBe(200);
    await t.login(email, head).expect(422);
    await t.login(email, `${head}y`).expect(422);
    await t.login(email, `${head}x`).expect(200);
  });

  it('has the minimum length that the host configures', async () => {
    const strict = await startMembers({ passwords: { minLength: 15 } });
    const register = (password: string) =>
      strict.t.http.post('/auth/register').send({ name: 'x', email: ADA, password, password_confirmation: password });
    const { body } = await register('fourteen chars').expect(422);
    expect(body.message).toBe('The password must have at least 15 characters.');
    await register('fifteen chars!!').expect(200);
    await strict.t.stop();
  });
});

const BREACHED = 'a password that came out';
const FRESH = 'a password that did not';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

describe('a check against breached passwords', () => {
  let server: Server;
  let answer: Handler;
  let url: string;

  beforeAll(async () => {
    server = createServer((request, response) => void answer(request, response));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/range`;
  });
  beforeEach(() => {
    answer = ranges;
    requests.length = 0;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const requests: { path: string | undefined; padding: unknown }[] = [];
  /** A range service: it returns suffixes with counts; a count of 0 is padding. */
  const ranges: Handler = ({ url: path, headers }, response) => {
    requests.push({ path, padding: headers['add-padding'] });
    const digest = (text: string): string => createHash('sha1').update(text).digest('hex').toUpperCase();
    const lines = [BREACHED, FRESH].map((text) => `${digest(text).slice(5)}:${text === BREACHED ? 3 : 0}`);
    response.end(['0'.repeat(35) + ':7', ...lines].join('\r\n'));
  };

  const startWithCheck = (timeoutMs: number, onOutage?: 'accept' | 'refuse'): TestApp =>
    TestApp.forFile(() => ({
      options: { passwords: { breached: { check: new PwnedPasswords(url), timeoutMs, onOutage } } },
    }));

  async function change(t: TestApp, password: string): Promise<{ status: number; body: object }> {
    await t.person(ADA);
    const { access_token: token } = await t.session();
    return t
      .call('post', '/auth/password', token)
      .send({ current_password: PASSWORD, password, password_confirmation: password });
  }

  describe('with an answer', () => {
    const t = startWithCheck(30_000);

    it('refuses a breached password, and sends five digits of its hash', async () => {
      const { status, body } = await change(t, BREACHED);
      expect(status).toBe(422);
      const text = 'This password became known in a data breach. Please choose another one.';
      expect(body).toEqual({ message: text, errors: { password: [text] } });
      const prefix = createHash('sha1').update(BREACHED).digest('hex').slice(0, 5).toUpperCase();
      expect(requests).toEqual([{ path: `/range/${prefix}`, padding: 'true' }]);
    });

    it('accepts a password that is in the range as padding only', async () => {
      expect((await change(t, FRESH)).status).toBe(200);
    });

    it('sends no request for a password that is refused anyway', async () => {
      expect((await change(t, 'password')).status).toBe(422);
      expect(requests).toEqual([]);
    });

    it('reads a range in lower case and with many padding lines', async () => {
      const digest = createHash('sha1').update(BREACHED).digest('hex');
      const padding = Array.from({ length: 2000 }, (_, i) => `${String(i).padStart(35, '0')}:0`);
      answer = (_, response) => response.end([...padding, `${digest.slice(5)}:3`, ''].join('\n'));
      expect((await change(t, BREACHED)).status).toBe(422);
    });
  });

  /** Redirects. A client that followed the redirect would find no breached password. */
  const redirecting: Handler = ({ url: path }, response) => {
    if (path === '/elsewhere') response.end(`${'0'.repeat(35)}:7`);
    else response.writeHead(302, { Location: '/elsewhere' }).end();
  };
  const sent: number[] = [];
  const endless: Handler = (_, response) => {
    const line = `${'0'.repeat(35)}:7\r\n`.repeat(1000);
    let bytes = 0;
    const more = (): void => {
      while (!response.destroyed && response.write(line)) bytes += line.length;
    };
    response.on('drain', more).on('close', () => sent.push(bytes));
    more();
  };

  it('aborts an endless answer', async () => {
    sent.length = 0;
    answer = endless;
    const check = new PwnedPasswords(url);
    await expect(check.has(BREACHED, AbortSignal.timeout(240_000))).rejects.toThrow('sent more than');
    await eventually(async () => sent.length > 0);
    expect(sent[0]).toBeLessThan(20e6);
  });

  const broken: [string, Handler][] = [
    ['fails', (_, response) => response.writeHead(503).end()],
    ['hangs up', (request) => request.socket.destroy()],
    ['redirects', redirecting],
    ['answers with the page of a proxy', (_, response) => response.end('<html>Please sign in</html>')],
    ['answers with an empty body', (_, response) => response.end()],
    ['answers with JSON', (_, response) => response.end('[]')],
    ['adds another line to the range', (_, response) => response.end(`${'0'.repeat(35)}:7\r\nand so on`)],
    ['answers with a count in letters', (_, response) => response.end(`${'0'.repeat(35)}:many`)],
    ['answers with a short suffix', (_, response) => response.end(`${'0'.repeat(34)}:7`)],
    ['sends an endless answer', endless],
  ];
  const silent: [string, Handler][] = [
    ['does not answer', () => undefined],
    ['stops in the middle of the answer', (_, response) => response.writeHead(200).write('0018A')],
  ];

  // A broken answer is recognised at once; a missing answer ends with the time-out.
  describe.each([
    ['with a broken service', 60_000, broken],
    ['with a silent service', 100, silent],
  ])('%s', (_, timeoutMs, outages) => {
    describe('by default', () => {
      const t = startWithCheck(timeoutMs);

      it.each(outages)('accepts the password when the service %s', async (__, outage) => {
        answer = outage;
        expect((await change(t, BREACHED)).status).toBe(200);
      });
    });

    describe('with onOutage: refuse', () => {
      const t = startWithCheck(timeoutMs, 'refuse');

      it.each(outages)('refuses with 503 when the service %s', async (__, outage) => {
        answer = outage;
        const { status, body } = await change(t, BREACHED);
        expect(status).toBe(503);
        expect(body).toEqual({ message: 'The service is temporarily unavailable. Please try again shortly.' });
        await t.login(ADA, PASSWORD).expect(200);
      });
    });
  });
});
