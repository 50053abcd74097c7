import { type AuthModuleOptions, PwnedPasswords } from '@svc/auth';
import { createHash } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TestApp } from '../support/app';
import { ADA } from '../support/confirming';
import { PASSWORD } from '../support/people';

const BREACHED = 'a password that came out';
const FRESH = 'a password that did not';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

describe('a check against breached passwords', () => {
  let server: Server;
  let answer: Handler;
  let url: string;
  let t: TestApp | undefined;

  beforeAll(async () => {
    server = createServer((request, response) => void answer(request, response));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/range`;
  });
  beforeEach(() => (answer = ranges));
  afterEach(async () => {
    await t?.stop();
    t = undefined;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const asked: { path: string | undefined; padding: unknown }[] = [];
  /** The range service: suffixes with counts, some of them padding. */
  const ranges: Handler = ({ url: path, headers }, response) => {
    asked.push({ path, padding: headers['add-padding'] });
    const digest = (text: string): string => createHash('sha1').update(text).digest('hex').toUpperCase();
    const lines = [BREACHED, FRESH].map((text) => `${digest(text).slice(5)}:${text === BREACHED ? 3 : 0}`);
    response.end(['0'.repeat(35) + ':7', ...lines].join('\r\n'));
  };

  async function change(password: string, onOutage?: 'accept' | 'refuse'): Promise<{ status: number; body: object }> {
    const options: Partial<AuthModuleOptions> = {
      passwords: { breached: { check: new PwnedPasswords(url), timeoutMs: 200, onOutage } },
    };
    t = await TestApp.start({ options });
    await t.person(ADA);
    const { access_token: token } = await t.session();
    return t
      .call('post', '/auth/password', token)
      .send({ current_password: PASSWORD, password, password_confirmation: password });
  }

  it('refuses one that was in a breach, and shows five digits of its hash', async () => {
    asked.length = 0;
    const { status, body } = await change(BREACHED);
    expect(status).toBe(422);
    const text = 'This password became known in a data breach. Please choose another one.';
    expect(body).toEqual({ message: text, errors: { password: [text] } });
    const prefix = createHash('sha1').update(BREACHED).digest('hex').slice(0, 5).toUpperCase();
    expect(asked).toEqual([{ path: `/range/${prefix}`, padding: 'true' }]);
  });

  it('accepts one that is there as padding only', async () => {
    expect((await change(FRESH)).status).toBe(200);
  });

  it('asks nobody about what is refused anyway', async () => {
    asked.length = 0;
    expect((await change('password')).status).toBe(422);
    expect(asked).toEqual([]);
  });

  it('reads a range in lower case, and one with more lines than there are', async () => {
    const digest = createHash('sha1').update(BREACHED).digest('hex');
    const padding = Array.from({ length: 2000 }, (_, i) => `${String(i).padStart(35, '0')}:0`);
    answer = (_, response) => response.end([...padding, `${digest.slice(5)}:3`, ''].join('\n'));
    expect((await change(BREACHED)).status).toBe(422);
  });

  /** What follows it is told that there is no such password. */
  const elsewhere: Handler = ({ url: path }, response) => {
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

  it('leaves an answer that never stops', async () => {
    sent.length = 0;
    answer = endless;
    const check = new PwnedPasswords(url);
    await expect(check.has(BREACHED, AbortSignal.timeout(30_000))).rejects.toThrow('answered too much');
    while (!sent.length) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(sent[0]).toBeLessThan(20e6);
  });

  const outages: [string, Handler][] = [
    ['is silent', () => undefined],
    ['fails', (_, response) => response.writeHead(503).end()],
    ['hangs up', (request) => request.socket.destroy()],
    ['stalls in the middle', (_, response) => response.writeHead(200).write('0018A')],
    ['leads to another address', elsewhere],
    ['shows the page of a proxy', (_, response) => response.end('<html>Please sign in</html>')],
    ['says nothing', (_, response) => response.end()],
    ['speaks JSON', (_, response) => response.end('[]')],
    ['adds another line to the range', (_, response) => response.end(`${'0'.repeat(35)}:7\r\nand so on`)],
    ['counts in letters', (_, response) => response.end(`${'0'.repeat(35)}:many`)],
    ['cuts a suffix short', (_, response) => response.end(`${'0'.repeat(34)}:7`)],
    ['never stops', endless],
  ];

  it.each(outages)('accepts the password within the time-out when the service %s', async (_, outage) => {
    answer = outage;
    const started = performance.now();
    expect((await change(BREACHED)).status).toBe(200);
    expect(performance.now() - started).toBeLessThan(5000);
  });

  it.each(outages)('refuses with 503 where the host wants that when the service %s', async (_, outage) => {
    answer = outage;
    const { status, body } = await change(BREACHED, 'refuse');
    expect(status).toBe(503);
    expect(body).toEqual({ message: 'The service is temporarily unavailable. Please try again shortly.' });
    await t!.login(ADA, PASSWORD).expect(200);
  });
});
