import { type AuthModuleOptions, PasswordHasher } from '@svc/auth';
import type { TestApp } from '../support/hosts/app';
import { newAddress, startRateLimited } from '../support/hosts/rate-limited-host';
import { eventually } from '../support/runtime/eventually';
import { UNLIMITED } from '../support/hosts/host.module';
import { PASSWORD } from '../support/hosts/user-entities';
import { requestStatements } from '../support/stores/request-statements';

const WRONG = 'wrong-horse-battery';
const BUSY = { message: 'The service is busy. Please try again in 2 seconds.' };

interface Library {
  verify(digest: string, password: string): Promise<boolean>;
}

/** Blocks every verification until the test releases it, and records the order. */
function held(t: TestApp) {
  const { library } = t.app.get(PasswordHasher) as unknown as { library: Library };
  const verify = library.verify.bind(library);
  const state = { holds: false, passwords: [] as string[], running: 0, most: 0 };
  const waiting: (() => void)[] = [];
  jest.spyOn(library, 'verify').mockImplementation(async (digest, password) => {
    state.passwords.push(password);
    state.most = Math.max(state.most, ++state.running);
    if (state.holds) await new Promise<void>((resolve) => waiting.push(resolve));
    return verify(digest, password).finally(() => state.running--);
  });
  return Object.assign(state, {
    letGo: () => {
      state.holds = false;
      for (const go of waiting.splice(0)) go();
    },
  });
}

describe('a flood of wrong logins', () => {
  let t: TestApp;
  afterEach(() => t.stop());

  // The queue is full and no entry leaves it while the hashes are blocked.
  let refused: number;
  const isRefused = (times: number): Promise<void> => eventually(async () => refused === times);

  const start = async (options: Partial<AuthModuleOptions>) => {
    refused = 0;
    t = await startRateLimited({
      hashing: { memoryCost: 64, timeCost: 1, concurrency: 2, maxQueue: 8, maxWaitMs: 60_000 },
      ...options,
    });
    await t.person('ada@example.com');
    await t.app.get(PasswordHasher).verify(null, 'the decoy hash exists afterwards');
    return held(t);
  };
  const login = (from: string, email: string, password = WRONG) =>
    t.http
      .post('/auth/login')
      .set('X-Forwarded-For', from)
      .send({ email, password })
      .then((answer) => {
        if (answer.status === 503) refused++;
        return answer;
      });
  it('from few addresses waits behind a client from another address, and is bounded', async () => {
    const hashes = await start({ rateLimits: UNLIMITED });
    const addresses = [newAddress(), newAddress(), newAddress()];
    for (const from of addresses) await login(from, 'unknown@example.com');
    hashes.passwords.splice(0);
    hashes.holds = true;
    // Known and unknown accounts take the same path. Two logins are running, and eight wait.
    const flood = Array.from({ length: 60 }, (_, i) =>
      login(addresses[i % 3]!, i % 2 ? `unknown-${i}@example.com` : 'ada@example.com'),
    );
    await isRefused(50);
    const ada = login(newAddress(), 'ada@example.com', PASSWORD);
    // Her login replaces one of the waiting ones.
    await isRefused(51);
    hashes.letGo();
    expect((await ada).status).toBe(200);
    expect(hashes.passwords.slice(0, 3)).toEqual([WRONG, WRONG, PASSWORD]);
    const answers = await Promise.all(flood);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(9);
    const busy = answers.filter(({ status }) => status === 503);
    expect(busy).toHaveLength(51);
    for (const { headers, body } of busy) {
      expect(headers['retry-after']).toBe('2');
      expect(body).toEqual(BUSY);
    }
    expect(hashes.most).toBe(2);
  });

  it('is refused before the database is asked, once the queue is full', async () => {
    const hashes = await start({ rateLimits: UNLIMITED });
    hashes.holds = true;
    const flood = Array.from({ length: 11 }, () => login(newAddress(), 'unknown@example.com'));
    await isRefused(1);
    const statements = await requestStatements(t);
    // It has no higher priority than the waiting logins: the same address and the same account.
    expect((await login(newAddress(), 'unknown@example.com')).status).toBe(503);
    expect(statements).not.toHaveBeenCalled();
    hashes.letGo();
    await Promise.all(flood);
  });

  it('is answered 503 with Retry-After without a queue, and prevents no later login', async () => {
    const hashing = { memoryCost: 64, timeCost: 1, concurrency: 1, maxQueue: 0 };
    const hashes = await start({ rateLimits: UNLIMITED, hashing });
    hashes.holds = true;
    const first = login(newAddress(), 'ada@example.com', PASSWORD);
    await eventually(async () => hashes.running === 1);
    for (const name of ['ada', 'unknown', 'ada', 'unknown']) {
      const { status, headers, body } = await login(newAddress(), `${name}@example.com`, PASSWORD);
      expect({ status, body }).toEqual({ status: 503, body: BUSY });
      expect(headers['retry-after']).toBe('2');
    }
    hashes.letGo();
    expect((await first).status).toBe(200);
    expect((await login(newAddress(), 'ada@example.com', PASSWORD)).status).toBe(200);
    expect((await login(newAddress(), 'unknown@example.com', PASSWORD)).status).toBe(422);
  });

  it('does not affect requests without a hash', async () => {
    const hashes = await start({ rateLimits: UNLIMITED });
    const { access_token: token } = await t.session();
    hashes.holds = true;
    const flood = Array.from({ length: 30 }, () => login(newAddress(), 'unknown@example.com'));
    await isRefused(20);
    await t.get('/private', token).expect(200);
    hashes.letGo();
    await Promise.all(flood);
  });

  it('from one address is rate-limited before any hash', async () => {
    const hashes = await start({ rateLimits: {}, hashing: { memoryCost: 64, timeCost: 1 } });
    const from = newAddress();
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => login(from, `unknown-${i}@example.com`)));
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(30);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(70);
    expect(hashes.passwords).toHaveLength(30);
  });

  it('on one account is rate-limited before any hash, from any number of addresses', async () => {
    const hashes = await start({ rateLimits: {}, hashing: { memoryCost: 64, timeCost: 1 } });
    const answers = await Promise.all(Array.from({ length: 60 }, () => login(newAddress(), 'ada@example.com')));
    expect(hashes.passwords).toHaveLength(20);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([422, 429]));
  });

  it('is refused after the maximum wait, and its attempts are not counted', async () => {
    const hashes = await start({
      rateLimits: {},
      hashing: { memoryCost: 64, timeCost: 1, concurrency: 1, maxQueue: 50, maxWaitMs: 100 },
    });
    hashes.holds = true;
    const first = login(newAddress(), 'unknown@example.com');
    await eventually(async () => hashes.running === 1);
    const late = await Promise.all(Array.from({ length: 19 }, () => login(newAddress(), 'ada@example.com')));
    expect(new Set(late.map(({ status }) => status))).toEqual(new Set([503]));
    hashes.letGo();
    expect((await first).status).toBe(422);
    expect((await login(newAddress(), 'ada@example.com', PASSWORD)).status).toBe(200);
  });
});
