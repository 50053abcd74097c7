import { randomUUID } from 'node:crypto';
import { rateLimitedForFile } from '../../../../../test/support/hosts/rate-limited-host';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { Realms } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { FailureLimiter, FailureLimits } from '../lockout/attempt-guard';

describe('concurrent attempts', () => {
  const t = rateLimitedForFile({ rateLimits: {} });
  let failures: FailureLimiter;
  beforeAll(() => (failures = t.app.get(Realms).default.get(FailureLimiter)));

  const fresh = () => [{ key: `svc:test:${randomUUID()}`, max: 3, seconds: 60 }];
  const refusal = ({ retryAfter }: { retryAfter: number }): Error => new Error(`wait ${retryAfter}`);

  it('wait for running attempts, which may succeed', async () => {
    const [limits, running]: [ReturnType<typeof fresh>, ((ok: boolean) => void)[]] = [fresh(), []];
    // The time that a request waits does not end on a slow machine.
    jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    const slow = () => new Promise<boolean | null>((resolve) => running.push((ok) => resolve(ok || null)));
    const all = Promise.all(Array.from({ length: 9 }, () => failures.attempt(limits, slow, refusal)));
    let started = 0;
    while (started < 9) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(running.length - started).toBeLessThanOrEqual(3);
      for (; started < running.length; started++) running[started]!(true);
    }
    expect(await all).toEqual(Array.from({ length: 9 }, () => true));
  });

  it('are refused after enough attempts have failed', async () => {
    const limits = fresh();
    let verified = 0;
    const wrong = async (): Promise<null> => {
      verified++;
      return null;
    };
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, () => failures.attempt(limits, wrong, refusal)),
    );
    expect(verified).toBe(3);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(47);
    expect(outcomes.at(-1)).toMatchObject({ reason: { message: expect.stringMatching(/^wait (5\d|60)$/) } });
  });

  it('count as failed when code of the host throws, and do not count when a store does not answer', async () => {
    const limits = fresh();
    const attempt = async (thrown: Error): Promise<string> => {
      const verify = async (): Promise<null> => {
        throw thrown;
      };
      return String(await failures.attempt(limits, verify, refusal).catch(({ message }: Error) => message));
    };
    for (let i = 0; i < 5; i++) expect(await attempt(new StoreUnavailable('Redis'))).toBe('Redis did not answer');
    for (let i = 0; i < 3; i++) expect(await attempt(new Error('wrong!'))).toBe('wrong!');
    expect(await attempt(new Error('wrong!'))).toMatch(/^wait/);
  });

  it('delay another attempt for at most a second, also with a slow store, and then refuse it with a wait of 1 second', async () => {
    const store = t.app.get(SecurityStore);
    const limits = fresh();
    for (let i = 0; i < 3; i++) await store.count(limits, true);
    const count = store.count.bind(store);
    let now = 1_000_000;
    const start = now;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    jest.spyOn(store, 'count').mockImplementation(async (...args) => {
      now += 300;
      return count(...args);
    });
    await expect(failures.attempt(limits, async () => true, refusal)).rejects.toThrow(/^wait 1$/);
    // The fourth call returns after more than a second.
    expect(now - start).toBe(1200);
  });

  it('are also limited for second factors, by guard and user', async () => {
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
