import { Lockout, PasswordHasher, SecurityStore, StoreUnavailable } from '@svc/auth';
import * as fc from 'fast-check';
import { randomInt, randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import { rateLimitedForFile, newAddress, startRateLimited } from '../support/hosts/rate-limited-host';
import { rounds } from '../support/runtime/rounds';
import { member, memberOptions, Mailbox } from '../support/hosts/members';
import { PASSWORD } from '../support/hosts/user-entities';

/** The seconds since a time, with one for the rounding of the server. */
const sinceSeconds = (began: number): number => (performance.now() - began) / 1000 + 1;

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
    const began = performance.now();
    const from = newAddress();
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
    expect(seconds).toBeGreaterThanOrEqual(60 - sinceSeconds(began));
    expect(seconds).toBeLessThanOrEqual(60);
    expect(refused.body).toEqual({ message: `Too many attempts. Please try again in ${seconds} seconds.` });
    expect(refused.headers).toMatchObject({ 'x-ratelimit-limit': '30', 'x-ratelimit-remaining': '0' });
    const now = Date.now() / 1000;
    const at = Number(refused.headers['x-ratelimit-reset']) - seconds;
    expect(at).toBeGreaterThanOrEqual(now - sinceSeconds(began));
    expect(at).toBeLessThanOrEqual(now + 1);
    await login(newAddress(), { email: ADA, password: PASSWORD }).expect(200);
  });

  it('counts an IPv6 network as one client, and all spellings of an IPv4 address as one client', async () => {
    const [net, four] = [network(), newAddress()];
    expect(await statuses(30, (i) => `${net}:${i}::${i}`, randomLogin())).toEqual([422, 429]);
    await login(`${net}:ffff::1`, randomLogin()).expect(429);
    await login(`${network()}::1`, randomLogin()).expect(422);

    const spellings = [four, `::ffff:${four}`, `64:ff9b::${four}`];
    for (let i = 0; i < 30; i++) await login(spellings[i % 3]!, randomLogin()).expect(422);
    for (const spelling of spellings) await login(spelling, randomLogin()).expect(429);
  });

  it('counts all forwarded texts that are no address as one client', async () => {
    const texts = (i: number): string =>
      [`client-${i}`, `203.0.113.${i}:443`, `[2001:db8:${i}::1]`, `203.0.113.0${i}`, `unknown${i}`][i % 5]!;
    for (let i = 0; i < 30; i++) await login(texts(i), randomLogin()).expect(422);
    await login('another', randomLogin()).expect(429);
    await login(newAddress(), randomLogin()).expect(422);
    const zoned = network();
    for (let i = 0; i < 30; i++) await login(`${zoned}::1%${i}`, randomLogin()).expect(422);
    await login(`${zoned}::1`, randomLogin()).expect(429);
  });

  it('is counted for each guard separately', async () => {
    const from = newAddress();
    for (let i = 0; i < 31; i++) await login(from, randomLogin());
    await login(from, randomLogin()).expect(429);
    await login(from, randomLogin(), '/admin/auth').expect(422);
  });

  it('refuses before the body is validated', async () => {
    const from = newAddress();
    for (let i = 0; i < 30; i++) await login(from, { email: 7 }).expect(422);
    await login(from, { email: 7 }).expect(429);
  });
});

describe('the limit of POST /refresh', () => {
  const t = rateLimitedForFile({ rateLimits: {} });

  it('admits 30 attempts per address', async () => {
    const from = newAddress();
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
    await login(newAddress(), 'a').expect(422);
    await login(newAddress(), 'a').expect(429);
    await login(newAddress(), 'b').expect(422);
    await login(newAddress(), 'a', '/admin/auth').expect(422);
    await login(newAddress(), 'a', '/admin/auth').expect(429);

    const from = newAddress();
    await login(from, 'throws').expect(422);
    await login(from, '').expect(429);
    await login(newAddress(), '').expect(422);
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
    const began = performance.now();
    const from = newAddress();
    const events = t.recorded(Lockout);
    await fail(5, () => from);
    expect(events).toEqual([]);
    const verify = jest.spyOn(t.app.get(PasswordHasher), 'verify');

    const { body, headers } = await login(PASSWORD, from).expect(429);
    const seconds = Number(headers['retry-after']);
    const text = `Too many attempts. Please try again in ${seconds} seconds.`;
    expect(body).toEqual({ message: text, errors: { email: [text] } });
    expect(seconds).toBeGreaterThanOrEqual(60 - sinceSeconds(began));
    expect(verify).not.toHaveBeenCalled();
    expect(events).toHaveLength(1);
    expect((events[0]!.request as { body: object }).body).toEqual({ email, password: PASSWORD });

    await login(PASSWORD, newAddress()).expect(200);
  });

  it('counts failures only, and a success resets the count', async () => {
    const from = newAddress();
    for (let i = 0; i < 8; i++) await login(PASSWORD, from).expect(200);
    for (let round = 0; round < 3; round++) {
      await fail(4, () => from);
      await login(PASSWORD, from).expect(200);
    }
    await fail(5, () => from);
    await login('wrong', from).expect(429);
  });

  it('refuses attempts for an account after twenty failures from any addresses', async () => {
    await fail(20, newAddress);
    await login(PASSWORD, newAddress()).expect(429);
    await login('wrong', newAddress(), `${randomUUID()}@example.com`).expect(422);
  });

  it('returns the longer wait of both limits', async () => {
    const host = await startRateLimited(FAILURES_ONLY, { redisUrl: '' });
    await host.person(email);
    host.clock.stop();
    const from = newAddress();
    const attempt = (password: string, address: string) => login(password, address, email, host);
    for (let i = 0; i < 15; i++) await attempt('wrong', newAddress()).expect(422);
    host.clock.advance(30);
    for (let i = 0; i < 5; i++) await attempt('wrong', from).expect(422);
    // The window of the account ends in 30 seconds, that of the address in 60.
    // The headers are those of the limit that refuses, and not of the one of the route.
    expect((await attempt('wrong', from).expect(429)).headers).toMatchObject({
      'retry-after': '60',
      'x-ratelimit-limit': '5',
      'x-ratelimit-remaining': '0',
    });
    expect((await attempt('wrong', newAddress()).expect(429)).headers['retry-after']).toBe('30');
    host.clock.advance(31);
    await attempt('wrong', newAddress()).expect(422);
    expect((await attempt(PASSWORD, from).expect(429)).headers['retry-after']).toBe('29');
    host.clock.advance(30);
    await attempt(PASSWORD, from).expect(200);
    await host.stop();
  });

  it('counts every spelling of an identifier as one', async () => {
    const spellings = [
      email.toUpperCase(),
      `   ${email}  `,
      email.replace('e', 'E'),
      email.replace('.com', '.COM'),
      email,
    ];
    for (const known of [true, false]) {
      const ours = known ? spellings : spellings.map((spelling) => spelling.replace('@', 'x@'));
      const from = newAddress();
      await fail(
        5,
        () => from,
        (i) => ours[i],
      );
      for (const spelling of ours) await login('wrong', from, spelling).expect(429);
    }
  });

  it('admits no more guesses if the owner of a look-alike account signs in between them', async () => {
    const [victim, attacker] = [`m\u00fcller-${email}`, `muller-${email}`];
    await Promise.all([victim, attacker].map((address) => t.person(address)));
    const answers: number[] = [];
    for (let round = 0; round < 8; round++) {
      const from = newAddress();
      for (let i = 0; i < 4; i++) answers.push((await login(`wrong ${i}`, from, victim)).status);
      await login(PASSWORD, from, attacker).expect(200);
    }
    expect(answers).toEqual([...Array<number>(20).fill(422), ...Array<number>(12).fill(429)]);
  });

  it('is not used up by failures at a look-alike account', async () => {
    const lookAlike = email.replace(/[ae]/g, (letter) => ({ a: 'а', e: 'е' })[letter]!);
    await t.person(lookAlike);
    const from = newAddress();
    await fail(
      5,
      () => from,
      () => lookAlike,
    );
    await login(PASSWORD, from, lookAlike).expect(429);
    await login(PASSWORD, from).expect(200);
    await login(PASSWORD, from, lookAlike).expect(429);
  });

  it('is not reset by a success of another user who is named by the custom login of the host', async () => {
    const authenticate = async (request: unknown): Promise<{ id: number } | null> =>
      (request as { body: { password: string } }).body.password === 'ticket' ? { id: 1 } : null;
    const host = await startRateLimited({ ...FAILURES_ONLY, hooks: { authenticate } });
    await host.person(email);
    const [from, unknown] = [newAddress(), `x${email}`];
    for (let i = 0; i < 4; i++) await login('wrong', from, unknown, host).expect(422);
    await login('ticket', from, unknown, host).expect(200);
    await login('wrong', from, unknown, host).expect(422);
    await login('wrong', from, unknown, host).expect(429);
    await host.stop();
  });

  it('does not count requests without an identifier as one account', async () => {
    await fail(
      30,
      (i) => `203.0.${randomInt(256)}.${i + 1}`,
      () => '',
    );
    await login('wrong', newAddress(), null).expect(422);
    const from = newAddress();
    await fail(
      5,
      () => from,
      () => '  ',
    );
    await login('wrong', from, null).expect(429);
  });

  it('is counted for each guard separately', async () => {
    const from = newAddress();
    await fail(5, () => from);
    await login('wrong', from).expect(429);
    await t.http.post('/admin/auth/login').set('X-Forwarded-For', from).send({ email, password: 'x' }).expect(422);
  });

  it('stores no identifier and no address', async () => {
    const [count, settle] = ['count', 'settle'].map((name) => jest.spyOn(t.app.get(SecurityStore), name as 'count'));
    const from = newAddress();
    await fail(1, () => from);
    const stored = JSON.stringify([count!.mock.calls, settle!.mock.calls]);
    expect(stored).toContain('svc:rl:');
    expect(stored).not.toContain(email);
    expect(stored).not.toContain(from);
  });

  it('does not count attempts that end in 503', async () => {
    const from = newAddress();
    const hasher = t.app.get(PasswordHasher);
    jest.spyOn(hasher, 'verify').mockRejectedValue(new StoreUnavailable('PostgreSQL'));
    for (let i = 0; i < 10; i++) await login('wrong', from).expect(503);
    jest.restoreAllMocks();
    await fail(5, () => from);
    await login('wrong', from).expect(429);
  });
});

const MAX = { maxAttempts: 3, accountMaxAttempts: 5 };

/** The rule in its simplest form: failures belong to the account that an identifier names, or to the identifier. */
class Failures {
  private readonly counts = new Map<string, number>();

  constructor(private readonly accounts: readonly string[]) {}

  attempt(identifier: string, from: string, right: boolean): number {
    // A composed and a decomposed letter are one letter; a letter with a mark and one without are two.
    const owner = identifier.trim().toLowerCase().normalize('NFC');
    const [ofClient, ofOwner] = [`${owner} from ${from}`, owner];
    const count = (key: string): number => this.counts.get(key) ?? 0;
    if (count(ofClient) >= MAX.maxAttempts || count(ofOwner) >= MAX.accountMaxAttempts) return 429;
    const isIn = right && this.accounts.includes(owner);
    for (const key of [ofClient, ofOwner]) this.counts.set(key, isIn ? 0 : count(key) + 1);
    return isIn ? 200 : 422;
  }
}

describe('any sequence of logins to accounts that look alike', () => {
  const t = rateLimitedForFile({ rateLimits: { login: { ...MAX, ipMaxAttempts: 1e9, decaySeconds: 3600 } } });
  const NAMES = ['muller', 'm\u00fcller', 'MULLER', 'M\u00dcLLER', 'mu\u0308ller', 'm\u0169ller', 'm\u0443ller'];
  const step = fc.record({
    name: fc.constantFrom(...NAMES),
    padding: fc.constantFrom('', ' '),
    from: fc.constantFrom('198.51.100.1', '198.51.100.2'),
    right: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
  });

  it('is answered as the simple rule requires', async () => {
    const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const run = randomUUID().slice(0, 8);
      const accounts = ['muller', 'm\u00fcller'].map((name) => `${name}@${run}.test`);
      await Promise.all(accounts.map((email) => t.person(email)));
      const rule = new Failures(accounts);
      for (const { name, padding, from, right } of steps) {
        const email = `${padding}${name}@${run}.test${padding}`;
        const { status } = await t.login(email, right ? PASSWORD : 'wrong').set('X-Forwarded-For', from);
        expect(status).toBe(rule.attempt(email, from, right));
      }
    });
    await fc.assert(property, { numRuns: rounds(6) });
  });
});

describe('the limits of account routes', () => {
  const t = rateLimitedForFile(memberOptions(new Mailbox(), { rateLimits: {} }));
  let id: string;
  beforeEach(async () => (id = await member(t, ADA)));

  const post = (path: string, client: string, body: object = {}) =>
    t.http.post(`/auth/${path}`).set('X-Forwarded-For', client).send(body);

  it('count registrations by client only, so that no other client can block an address', async () => {
    const client = newAddress();
    const form = { name: 'x', password: PASSWORD, password_confirmation: PASSWORD };
    for (let i = 0; i < 10; i++) await post('register', client, { ...form, email: 'wanted' }).expect(422);
    const { headers, body } = await post('register', client, { ...form, email: 'wanted@example.com' }).expect(429);
    expect(headers['x-ratelimit-limit']).toBe('10');
    expect(body).toEqual({ message: expect.stringMatching(/Too many attempts/) });
    await post('register', newAddress(), { ...form, email: 'wanted@example.com' }).expect(200);
  });

  it('count forgotten and reset passwords together, by client only', async () => {
    const client = newAddress();
    for (let i = 0; i < 3; i++) await post('forgot-password', client, { email: ADA }).expect(200);
    for (let i = 0; i < 3; i++) await post('reset-password', client).expect(422);
    await post('forgot-password', client, { email: ADA }).expect(429);
    await post('reset-password', client).expect(429);
    await post('forgot-password', newAddress(), { email: ADA }).expect(200);
  });

  it('count requests for a verification mail by user, and opened links by client', async () => {
    const { accessToken } = await t.auth.startSession(id);
    const resend = (client: string) =>
      post('email/verification-notification', client).set('Authorization', `Bearer ${accessToken}`);
    for (let i = 0; i < 6; i++) await resend(newAddress()).expect(202);
    await resend(newAddress()).expect(429);
    const client = newAddress();
    const open = () => t.http.get('/auth/email/verify/x/y').set('X-Forwarded-For', client);
    for (let i = 0; i < 6; i++) await open().expect(403);
    await open().expect(429);
  });
});
