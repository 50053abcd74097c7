import { type AuthModuleOptions, Lockout, PasswordHasher, SecurityStore, StoreUnavailable } from '@svc/auth';
import { randomInt, randomUUID } from 'node:crypto';
import { FailureLimiter } from '../../libs/auth/src/throttling/failure-limiter';
import { FailureLimits } from '../../libs/auth/src/throttling/failure-limits';
import { Realms } from '../../libs/auth/src/realm/realm';
import type { TestApp, TestAppOptions } from '../support/app';
import { someone, startLimited } from '../support/clients';
import { PASSWORD } from '../support/people';

const start = (options: Partial<AuthModuleOptions> = {}, more: TestAppOptions = {}): Promise<TestApp> =>
  startLimited({ rateLimits: { login: { ipMaxAttempts: 1e9 } }, ...options }, more);

describe('the limit on failed logins', () => {
  let t: TestApp;
  let email: string;
  const login = (password: string, from: string, as: unknown = email) =>
    t.http.post('/auth/login').set('X-Forwarded-For', from).send({ email: as, password });
  const fail = async (times: number, from: (i: number) => string, as: (i: number) => unknown = () => email) => {
    for (let i = 0; i < times; i++) await login('wrong', from(i), as(i)).expect(422);
  };

  beforeAll(async () => (t = await start()));
  beforeEach(async () => {
    email = `${randomUUID().slice(0, 8)}@example.com`;
    await t.person(email);
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => t.stop());

  it('refuses the sixth attempt of an account from one address, the right password included, and says why', async () => {
    const from = someone();
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

    await login(PASSWORD, someone()).expect(200);
  });

  it('counts failures only, and a success clears them', async () => {
    const from = someone();
    for (let i = 0; i < 8; i++) await login(PASSWORD, from).expect(200);
    for (let round = 0; round < 3; round++) {
      await fail(4, () => from);
      await login(PASSWORD, from).expect(200);
    }
    await fail(5, () => from);
    await login('wrong', from).expect(429);
  });

  it('refuses the twenty-first failure of an account, whatever the addresses', async () => {
    await fail(20, someone);
    await login(PASSWORD, someone()).expect(429);
    await login('wrong', someone(), `${randomUUID()}@example.com`).expect(422);
  });

  it('waits for the longer of both', async () => {
    await t.stop();
    t = await start({}, { redisUrl: '' });
    await t.person(email);
    t.clock.stop();
    const from = someone();
    await fail(15, someone);
    t.clock.advance(30);
    await fail(5, () => from);
    // The account's window ends in 30 seconds, that of the address in 60.
    expect((await login('wrong', from).expect(429)).headers['retry-after']).toBe('60');
    expect((await login('wrong', someone()).expect(429)).headers['retry-after']).toBe('30');
    t.clock.advance(31);
    await login('wrong', someone()).expect(422);
    expect((await login(PASSWORD, from).expect(429)).headers['retry-after']).toBe('29');
    t.clock.advance(30);
    await login(PASSWORD, from).expect(200);
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
    const from = someone();
    await fail(
      5,
      () => from,
      (i) => spellings[i],
    );
    for (const spelling of spellings) await login('wrong', from, spelling).expect(429);
  });

  it('are not cleared by an account that only looks like the one guessed at', async () => {
    const lookAlike = email.replace(/[ae]/g, (letter) => ({ a: 'а', e: 'е' })[letter]!);
    await t.person(lookAlike);
    const from = someone();
    await fail(4, () => from);
    await login(PASSWORD, from, lookAlike).expect(200);
    await fail(1, () => from);
    await login('wrong', from).expect(429);
    await login(PASSWORD, from, lookAlike).expect(429);
  });

  it('does not count callers without an identifier as one account', async () => {
    await fail(
      30,
      (i) => `203.0.${randomInt(256)}.${i + 1}`,
      () => '',
    );
    await login('wrong', someone(), null).expect(422);
    const from = someone();
    await fail(
      5,
      () => from,
      () => '  ',
    );
    await login('wrong', from, null).expect(429);
  });

  it('is counted for each guard by itself', async () => {
    const from = someone();
    await fail(5, () => from);
    await login('wrong', from).expect(429);
    await t.http.post('/admin/auth/login').set('X-Forwarded-For', from).send({ email, password: 'x' }).expect(422);
  });

  it('keeps no identifier and no address in the store', async () => {
    const [count, settle] = ['count', 'settle'].map((name) => jest.spyOn(t.app.get(SecurityStore), name as 'count'));
    const from = someone();
    await fail(1, () => from);
    const stored = JSON.stringify([count!.mock.calls, settle!.mock.calls]);
    expect(stored).toContain('svc:rl:');
    expect(stored).not.toContain(email);
    expect(stored).not.toContain(from);
  });

  it('loses nothing when the hasher is too busy or the database is down', async () => {
    const from = someone();
    const hasher = t.app.get(PasswordHasher);
    jest.spyOn(hasher, 'verify').mockRejectedValue(new StoreUnavailable('PostgreSQL'));
    for (let i = 0; i < 10; i++) await login('wrong', from).expect(503);
    jest.restoreAllMocks();
    await fail(5, () => from);
    await login('wrong', from).expect(429);
  });
});

describe('attempts that run at once', () => {
  let t: TestApp;
  let failures: FailureLimiter;

  beforeAll(async () => {
    t = await start();
    failures = t.app.get(Realms).default.get(FailureLimiter);
  });
  afterAll(() => t.stop());

  const fresh = () => [{ key: `svc:test:${randomUUID()}`, max: 3, seconds: 60 }];
  const refusal = (seconds: number): Error => new Error(`wait ${seconds}`);

  it('wait for those before them, which may succeed', async () => {
    const [three, ended]: [ReturnType<typeof fresh>, ((ok: boolean) => void)[]] = [fresh(), []];
    const slow = () => new Promise<boolean | null>((resolve) => ended.push((ok) => resolve(ok || null)));
    const all = Promise.all(Array.from({ length: 9 }, () => failures.attempt(three, slow, refusal)));
    let started = 0;
    while (started < 9) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(ended.length - started).toBeLessThanOrEqual(3);
      for (; started < ended.length; started++) ended[started]!(true);
    }
    expect(await all).toEqual(Array.from({ length: 9 }, () => true));
  });

  it('are refused once those before them have failed', async () => {
    const three = fresh();
    let verified = 0;
    const wrong = async (): Promise<null> => {
      verified++;
      return null;
    };
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, () => failures.attempt(three, wrong, refusal)),
    );
    expect(verified).toBe(3);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(47);
    expect(outcomes.at(-1)).toMatchObject({ reason: { message: expect.stringMatching(/^wait (59|60)$/) } });
  });

  it('count as failed when host code throws, and as nothing when a store does not answer', async () => {
    const three = fresh();
    const attempt = async (thrown: Error): Promise<string> => {
      const verify = async (): Promise<null> => {
        throw thrown;
      };
      return String(await failures.attempt(three, verify, refusal).catch(({ message }: Error) => message));
    };
    for (let i = 0; i < 5; i++) expect(await attempt(new StoreUnavailable('Redis'))).toBe('Redis did not answer');
    for (let i = 0; i < 3; i++) expect(await attempt(new Error('wrong!'))).toBe('wrong!');
    expect(await attempt(new Error('wrong!'))).toMatch(/^wait/);
  });

  it('are not waited for beyond a second, however slow the store, and another try is due soon', async () => {
    const store = t.app.get(SecurityStore);
    const three = fresh();
    for (let i = 0; i < 3; i++) await store.count(three, true);
    const count = store.count.bind(store);
    const calls = jest.spyOn(store, 'count').mockImplementation(async (...args) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return count(...args);
    });
    const began = performance.now();
    await expect(failures.attempt(three, async () => true, refusal)).rejects.toThrow(/^wait 1$/);
    expect(performance.now() - began).toBeLessThan(2000);
    expect(calls.mock.calls.length).toBeLessThan(6);
    calls.mockRestore();
  });

  it('are limited for second factors too, by guard and user', async () => {
    const [api, admin] = ['api', 'admin'].map((guard) => t.app.get(Realms).get(guard).get(FailureLimits));
    const id = randomUUID();
    const attempt = (limits: typeof api, user: string = id): Promise<unknown> =>
      failures.attempt(limits!.ofTwoFactor(user), async () => null, refusal).catch(() => 'refused');
    for (let i = 0; i < 5; i++) expect(await attempt(api)).toBeNull();
    expect(await attempt(api)).toBe('refused');
    expect(await attempt(api, 'another')).toBeNull();
    expect(await attempt(admin)).toBeNull();
  });
});
