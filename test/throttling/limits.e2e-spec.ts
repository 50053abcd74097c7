import { Lockout, PasswordHasher, SecurityStore, StoreUnavailable } from '@svc/auth';
import { randomInt, randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import { rateLimitedForFile, randomAddress, startRateLimited } from '../support/rate-limited-host';
import { member, memberOptions, Mailbox } from '../support/members';
import { PASSWORD } from '../support/user-entities';

const ADA = 'ada@example.com';

const network = (): string => `2001:db8:${randomInt(0x10000).toString(16)}:${randomInt(0x10000).toString(16)}`;

describe('the limit of POST /login', () => {
  const t = rateLimitedForFile({ rateLimits: {} });
  const login = (from: string, body: object = { email: 'nobody@example.com', password: 'x' }, path = '/auth') =>
    t.http.post(`${path}/login`).set('X-Forwarded-For', from).send(body);
  const statuses = async (times: number, from: (i: number) => string, body?: object): Promise<number[]> => {
    const all: number[] = [];
    for (let i = 0; i < times; i++) all.push((await login(from(i), body)).status);
    return [...new Set(all)];
  };
  const randomLogin = (): object => ({ email: `${randomInt(1e12)}@example.com`, password: 'x' });

  beforeEach(async () => void (await t.person(ADA)));

  it('admits 30 attempts per address, whatever their outcome, and returns the remaining number', async () => {
    const from = randomAddress();
    const outcomes: Response[] = [];
    for (let i = 0; i < 10; i++) outcomes.push(await login(from, randomLogin()));
    for (let i = 0; i < 10; i++) outcomes.push(await login(from, { email: [['x']], password: { a: 1 } }));
    for (let i = 0; i < 10; i++) outcomes.push(await login(from, { email: ADA, password: PASSWORD }));
    expect(outcomes.map(({ status }) => status)).toEqual([
      ...Array.from({ length: 20 }, () => 422),
      ...Array.from({ length: 10 }, () => 200),
    ]);
    outcomes.forEach(({ headers }, i) => {
      expect(headers).toMatchObject({ 'x-ratelimit-limit': '30', 'x-ratelimit-remaining': String(29 - i) });
      expect(headers).not.toHaveProperty('retry-after');
    });

    const refused = await login(from, { email: ADA, password: PASSWORD }).expect(429);
    const seconds = Number(refused.headers['retry-after']);
    expect(seconds).toBeGreaterThan(50);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(refused.body).toEqual({ message: `Too many attempts. Please try again in ${seconds} seconds.` });
    expect(refused.headers).toMatchObject({ 'x-ratelimit-limit': '30', 'x-ratelimit-remaining': '0' });
    expect(Number(refused.headers['x-ratelimit-reset']) - seconds).toBeCloseTo(Date.now() / 1000, -1);
    await login(randomAddress(), { email: ADA, password: PASSWORD }).expect(200);
  });

  it('counts an IPv6 network as one client, and all spellings of an IPv4 address as one client', async () => {
    const [net, four] = [network(), randomAddress()];
    expect(await statuses(30, (i) => `${net}:${i}::${i}`, randomLogin())).toEqual([422, 429]);
    await login(`${net}:ffff::1`, randomLogin()).expect(429);
    await login(`${network()}::1`, randomLogin()).expect(422);

    const spellings = [four, `::ffff:${four}`, `64:ff9b::${four}`];
    for (let i = 0; i < 30; i++) await login(spellings[i % 3]!, randomLogin()).expect(422);
    for (const spelling of spellings) await login(spelling, randomLogin()).expect(429);
  });

  it('is counted for each guard separately', async () => {
    const from = randomAddress();
    for (let i = 0; i < 31; i++) await login(from, randomLogin());
    await login(from, randomLogin()).expect(429);
    await login(from, randomLogin(), '/admin/auth').expect(422);
  });

  it('refuses before the body is validated', async () => {
    const from = randomAddress();
    for (let i = 0; i < 30; i++) await login(from, { email: 7 }).expect(422);
    await login(from, { email: 7 }).expect(429);
  });
});

describe('the limit of POST /refresh', () => {
  const t = rateLimitedForFile({ rateLimits: {} });

  it('admits 30 attempts per address', async () => {
    const from = randomAddress();
    const refresh = () => t.http.post('/auth/refresh').set('X-Forwarded-For', from).send({ refresh_token: 'x' });
    for (let i = 0; i < 30; i++) await refresh().expect(401);
    await refresh().expect(429);
  });
});

describe('the window of a limit', () => {
  it('starts with the first attempt, has a fixed length and does not slide', async () => {
    const t = await startRateLimited({ rateLimits: { login: { ipMaxAttempts: 2 } } }, { redisUrl: '' });
    t.clock.stop();
    const login = () => t.http.post('/auth/login').send({});
    await login().expect(422);
    t.clock.advance(40);
    await login().expect(422);
    const { headers } = await login().expect(429);
    expect(headers['retry-after']).toBe('20');
    t.clock.advance(19);
    await login().expect(429);
    t.clock.advance(2);
    await login().expect(422);
    await t.stop();
  });
});

describe('hooks.rateLimitKey', () => {
  it('identifies the client; the address does when it throws or returns no text', async () => {
    const run = randomInt(1e12);
    const rateLimitKey = (request: unknown): string => {
      const { device } = (request as { headers: { device?: string } }).headers;
      if (device === 'throws') throw new Error('no device');
      return device ? `${run}-${device}` : '  ';
    };
    const t = await startRateLimited({ rateLimits: { login: { ipMaxAttempts: 1 } }, hooks: { rateLimitKey } });
    const login = (from: string, device: string, path = '/auth') =>
      t.http.post(`${path}/login`).set('X-Forwarded-For', from).set('Device', device).send({});
    await login(randomAddress(), 'a').expect(422);
    await login(randomAddress(), 'a').expect(429);
    await login(randomAddress(), 'b').expect(422);
    await login(randomAddress(), 'a', '/admin/auth').expect(422);
    await login(randomAddress(), 'a', '/admin/auth').expect(429);

    const from = randomAddress();
    await login(from, 'throws').expect(422);
    await login(from, '').expect(429);
    await login(randomAddress(), '').expect(422);
    await t.stop();
  });
});

/** Limits only failed logins. */
const FAILURES_ONLY = { rateLimits: { login: { ipMaxAttempts: 1e9 } } };

describe('the limit on failed logins', () => {
  const t = rateLimitedForFile(FAILURES_ONLY);
  let email: string;
  const login = (password: string, from: string, as: unknown = email, host = t) =>
    host.http.post('/auth/login').set('X-Forwarded-For', from).send({ email: as, password });
  const fail = async (times: number, from: (i: number) => string, as: (i: number) => unknown = () => email) => {
    for (let i = 0; i < times; i++) await login('wrong', from(i), as(i)).expect(422);
  };

  beforeEach(async () => {
    email = `${randomUUID().slice(0, 8)}@example.com`;
    await t.person(email);
  });

  it('refuses the sixth attempt for an account from one address, also with the right password, with a reason', async () => {
    const from = randomAddress();
    const events = t.recorded(Lockout);
    await fail(5, () => from);
    expect(events).toEqual([]);
    const verify = jest.spyOn(t.app.get(PasswordHasher), 'verify');

    const { body, headers } = await login(PASSWORD, from).expect(429);
    const seconds = Number(headers['retry-after']);
    const text = `Too many attempts. Please try again in ${seconds} seconds.`;
    expect(body).toEqual({ message: text, errors: { email: [text] } });
    expect(seconds).toBeGreaterThan(50);
    expect(verify).not.toHaveBeenCalled();
    expect(events).toHaveLength(1);
    expect((events[0]!.request as { body: object }).body).toEqual({ email, password: PASSWORD });

    await login(PASSWORD, randomAddress()).expect(200);
  });

  it('counts failures only, and a success resets the count', async () => {
    const from = randomAddress();
    for (let i = 0; i < 8; i++) await login(PASSWORD, from).expect(200);
    for (let round = 0; round < 3; round++) {
      await fail(4, () => from);
      await login(PASSWORD, from).expect(200);
    }
    await fail(5, () => from);
    await login('wrong', from).expect(429);
  });

  it('refuses attempts for an account after twenty failures from any addresses', async () => {
    await fail(20, randomAddress);
    await login(PASSWORD, randomAddress()).expect(429);
    await login('wrong', randomAddress(), `${randomUUID()}@example.com`).expect(422);
  });

  it('returns the longer wait of both limits', async () => {
    const host = await startRateLimited(FAILURES_ONLY, { redisUrl: '' });
    await host.person(email);
    host.clock.stop();
    const from = randomAddress();
    const attempt = (password: string, address: string) => login(password, address, email, host);
    for (let i = 0; i < 15; i++) await attempt('wrong', randomAddress()).expect(422);
    host.clock.advance(30);
    for (let i = 0; i < 5; i++) await attempt('wrong', from).expect(422);
    // The window of the account ends in 30 seconds, that of the address in 60.
    expect((await attempt('wrong', from).expect(429)).headers['retry-after']).toBe('60');
    expect((await attempt('wrong', randomAddress()).expect(429)).headers['retry-after']).toBe('30');
    host.clock.advance(31);
    await attempt('wrong', randomAddress()).expect(422);
    expect((await attempt(PASSWORD, from).expect(429)).headers['retry-after']).toBe('29');
    host.clock.advance(30);
    await attempt(PASSWORD, from).expect(200);
    await host.stop();
  });

  it('counts every spelling of an identifier as one', async () => {
    const name = email.split('@')[0]!;
    const spellings = [
      email.toUpperCase(),
      `   ${email}  `,
      email.replace(/[a-z0-9]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)),
      `${name.replace(/a/g, 'а').replace(/e/g, 'е')}@еxаmplе.com`,
      email,
    ];
    const from = randomAddress();
    await fail(
      5,
      () => from,
      (i) => spellings[i],
    );
    for (const spelling of spellings) await login('wrong', from, spelling).expect(429);
  });

  it('is not reset by a login to a look-alike account', async () => {
    const lookAlike = email.replace(/[ae]/g, (letter) => ({ a: 'а', e: 'е' })[letter]!);
    await t.person(lookAlike);
    const from = randomAddress();
    await fail(4, () => from);
    await login(PASSWORD, from, lookAlike).expect(200);
    await fail(1, () => from);
    await login('wrong', from).expect(429);
    await login(PASSWORD, from, lookAlike).expect(429);
  });

  it('does not count requests without an identifier as one account', async () => {
    await fail(
      30,
      (i) => `203.0.${randomInt(256)}.${i + 1}`,
      () => '',
    );
    await login('wrong', randomAddress(), null).expect(422);
    const from = randomAddress();
    await fail(
      5,
      () => from,
      () => '  ',
    );
    await login('wrong', from, null).expect(429);
  });

  it('is counted for each guard separately', async () => {
    const from = randomAddress();
    await fail(5, () => from);
    await login('wrong', from).expect(429);
    await t.http.post('/admin/auth/login').set('X-Forwarded-For', from).send({ email, password: 'x' }).expect(422);
  });

  it('stores no identifier and no address', async () => {
    const [count, settle] = ['count', 'settle'].map((name) => jest.spyOn(t.app.get(SecurityStore), name as 'count'));
    const from = randomAddress();
    await fail(1, () => from);
    const stored = JSON.stringify([count!.mock.calls, settle!.mock.calls]);
    expect(stored).toContain('svc:rl:');
    expect(stored).not.toContain(email);
    expect(stored).not.toContain(from);
  });

  it('does not count attempts that end in 503', async () => {
    const from = randomAddress();
    const hasher = t.app.get(PasswordHasher);
    jest.spyOn(hasher, 'verify').mockRejectedValue(new StoreUnavailable('PostgreSQL'));
    for (let i = 0; i < 10; i++) await login('wrong', from).expect(503);
    jest.restoreAllMocks();
    await fail(5, () => from);
    await login('wrong', from).expect(429);
  });
});

describe('the limits of account routes', () => {
  const t = rateLimitedForFile(memberOptions(new Mailbox(), { rateLimits: {} }));
  let id: string;
  beforeEach(async () => (id = await member(t, ADA)));

  const post = (path: string, client: string, body: object = {}) =>
    t.http.post(`/auth/${path}`).set('X-Forwarded-For', client).send(body);

  it('count registrations by client only, so that no other client can block an address', async () => {
    const client = randomAddress();
    const form = { name: 'x', password: PASSWORD, password_confirmation: PASSWORD };
    for (let i = 0; i < 10; i++) await post('register', client, { ...form, email: 'wanted' }).expect(422);
    const { headers, body } = await post('register', client, { ...form, email: 'wanted@example.com' }).expect(429);
    expect(headers['x-ratelimit-limit']).toBe('10');
    expect(body).toEqual({ message: expect.stringMatching(/Too many attempts/) });
    await post('register', randomAddress(), { ...form, email: 'wanted@example.com' }).expect(200);
  });

  it('count forgotten and reset passwords together, by client only', async () => {
    const client = randomAddress();
    for (let i = 0; i < 3; i++) await post('forgot-password', client, { email: ADA }).expect(200);
    for (let i = 0; i < 3; i++) await post('reset-password', client).expect(422);
    await post('forgot-password', client, { email: ADA }).expect(429);
    await post('reset-password', client).expect(429);
    await post('forgot-password', randomAddress(), { email: ADA }).expect(200);
  });

  it('count requests for a verification mail by user, and opened links by client', async () => {
    const { accessToken } = await t.auth.startSession(id);
    const resend = (client: string) =>
      post('email/verification-notification', client).set('Authorization', `Bearer ${accessToken}`);
    for (let i = 0; i < 6; i++) await resend(randomAddress()).expect(202);
    await resend(randomAddress()).expect(429);
    const client = randomAddress();
    const open = () => t.http.get('/auth/email/verify/x/y').set('X-Forwarded-For', client);
    for (let i = 0; i < 6; i++) await open().expect(403);
    await open().expect(429);
  });
});
