import type { AuthModuleOptions } from '@svc/auth';
import { randomInt } from 'node:crypto';
import type { Response } from 'supertest';
import type { TestApp, TestAppOptions } from '../support/app';
import { someone, startLimited } from '../support/clients';
import { PASSWORD } from '../support/people';

const network = (): string => `2001:db8:${randomInt(0x10000).toString(16)}:${randomInt(0x10000).toString(16)}`;

const start = (
  rateLimits: AuthModuleOptions['rateLimits'] = {},
  options: Partial<AuthModuleOptions> = {},
  more: TestAppOptions = {},
): Promise<TestApp> => startLimited({ rateLimits, ...options }, more);

describe('the limit of POST /login', () => {
  let t: TestApp;
  const login = (from: string, body: object = { email: 'nobody@example.com', password: 'x' }, path = '/auth') =>
    t.http.post(`${path}/login`).set('X-Forwarded-For', from).send(body);
  const statuses = async (times: number, from: (i: number) => string, body?: object): Promise<number[]> => {
    const all: number[] = [];
    for (let i = 0; i < times; i++) all.push((await login(from(i), body)).status);
    return [...new Set(all)];
  };
  const anyone = (): object => ({ email: `${randomInt(1e12)}@example.com`, password: 'x' });

  beforeAll(async () => {
    t = await start();
    await t.person('ada@example.com');
  });
  afterAll(() => t.stop());

  it('lets 30 attempts of one address pass, whatever their outcome, and says how many are left', async () => {
    const from = someone();
    const outcomes: Response[] = [];
    for (let i = 0; i < 10; i++) outcomes.push(await login(from, anyone()));
    for (let i = 0; i < 10; i++) outcomes.push(await login(from, { email: [['x']], password: { a: 1 } }));
    for (let i = 0; i < 10; i++) outcomes.push(await login(from, { email: 'ada@example.com', password: PASSWORD }));
    expect(outcomes.map(({ status }) => status)).toEqual([
      ...Array.from({ length: 20 }, () => 422),
      ...Array.from({ length: 10 }, () => 200),
    ]);
    outcomes.forEach(({ headers }, i) => {
      expect(headers).toMatchObject({ 'x-ratelimit-limit': '30', 'x-ratelimit-remaining': String(29 - i) });
      expect(headers).not.toHaveProperty('retry-after');
    });

    const refused = await login(from, { email: 'ada@example.com', password: PASSWORD }).expect(429);
    const seconds = Number(refused.headers['retry-after']);
    expect(seconds).toBeGreaterThan(50);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(refused.body).toEqual({ message: `Too many attempts. Please try again in ${seconds} seconds.` });
    expect(refused.headers).toMatchObject({ 'x-ratelimit-limit': '30', 'x-ratelimit-remaining': '0' });
    expect(Number(refused.headers['x-ratelimit-reset']) - seconds).toBeCloseTo(Date.now() / 1000, -1);
    await login(someone(), { email: 'ada@example.com', password: PASSWORD }).expect(200);
  });

  it('counts a network of IPv6 as one client, and an IPv4 address in any spelling as itself', async () => {
    const [net, four] = [network(), someone()];
    expect(await statuses(30, (i) => `${net}:${i}::${i}`, anyone())).toEqual([422, 429]);
    await login(`${net}:ffff::1`, anyone()).expect(429);
    await login(`${network()}::1`, anyone()).expect(422);

    const spellings = [four, `::ffff:${four}`, `64:ff9b::${four}`];
    for (let i = 0; i < 30; i++) await login(spellings[i % 3]!, anyone()).expect(422);
    for (const spelling of spellings) await login(spelling, anyone()).expect(429);
  });

  it('is counted for each guard by itself', async () => {
    const from = someone();
    for (let i = 0; i < 31; i++) await login(from, anyone());
    await login(from, anyone()).expect(429);
    await login(from, anyone(), '/admin/auth').expect(422);
  });

  it('refuses before it looks at the body', async () => {
    const from = someone();
    for (let i = 0; i < 30; i++) await login(from, { email: 7 }).expect(422);
    await login(from, { email: 7 }).expect(429);
  });
});

describe('the limit of POST /refresh', () => {
  it('lets 30 attempts of one address pass', async () => {
    const t = await start();
    const from = someone();
    const refresh = () => t.http.post('/auth/refresh').set('X-Forwarded-For', from).send({ refresh_token: 'x' });
    for (let i = 0; i < 30; i++) await refresh().expect(401);
    await refresh().expect(429);
    await t.stop();
  });
});

describe('a window', () => {
  it('begins with the first attempt, ends on time and does not slide', async () => {
    const t = await start({ login: { ipMaxAttempts: 2 } }, {}, { redisUrl: '' });
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
  it('names the client; without a name, or when it throws, the address does', async () => {
    const run = randomInt(1e12);
    const rateLimitKey = (request: unknown): string => {
      const { device } = (request as { headers: { device?: string } }).headers;
      if (device === 'throws') throw new Error('no device');
      return device ? `${run}-${device}` : '  ';
    };
    const t = await start({ login: { ipMaxAttempts: 1 } }, { hooks: { rateLimitKey } });
    const login = (from: string, device: string, path = '/auth') =>
      t.http.post(`${path}/login`).set('X-Forwarded-For', from).set('Device', device).send({});
    await login(someone(), 'a').expect(422);
    await login(someone(), 'a').expect(429);
    await login(someone(), 'b').expect(422);
    await login(someone(), 'a', '/admin/auth').expect(422);
    await login(someone(), 'a', '/admin/auth').expect(429);

    const from = someone();
    await login(from, 'throws').expect(422);
    await login(from, '').expect(429);
    await login(someone(), '').expect(422);
    await t.stop();
  });
});
