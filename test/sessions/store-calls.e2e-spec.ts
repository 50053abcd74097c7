import { Client } from 'pg';
import { Realms } from '../../libs/auth/src/realm/realm';
import { SecurityStore } from '@svc/auth';
import { PasswordHasher, UserProvider } from '@svc/auth';
import { TestApp } from '../support/app';

/** Counts what reaches PostgreSQL and the security store. */
function counters(t: TestApp) {
  const queries = jest.spyOn(Client.prototype, 'query') as unknown as jest.SpyInstance;
  const store = t.app.get(SecurityStore);
  const calls = (['getMany', 'setMany', 'count', 'settle'] as const).map((name) => jest.spyOn(store, name));
  const text = ([query]: unknown[]): string => (typeof query === 'string' ? query : (query as { text: string }).text);
  return {
    sql: () => queries.mock.calls.map(text).filter((statement) => !/^(START|BEGIN|COMMIT|ROLLBACK)/i.test(statement)),
    trips: () => calls.reduce((sum, { mock }) => sum + mock.calls.length, 0),
  };
}

describe('what a request costs', () => {
  let t: TestApp;

  beforeAll(async () => {
    t = await TestApp.start();
    await t.person('ada@example.com');
  });
  afterAll(() => t.stop());

  it.each([['/private'], ['/passport']])(
    'a guarded one, at %s: one store round trip and one user read',
    async (path) => {
      const { access_token: token } = await t.session();
      const users = jest.spyOn(t.app.get(Realms).default.get(UserProvider), 'findById');
      const { sql, trips } = counters(t);
      await t.get(path, token).expect(200);
      expect([sql().length, trips(), users.mock.calls.length]).toEqual([1, 1, 1]);
      expect(sql()[0]).toMatch(/^SELECT .* FROM "people" WHERE "id" = ANY\(\$1\)$/);
      expect(sql()[0]).not.toContain('password');
    },
  );

  it('a public one: nothing', async () => {
    const { sql, trips } = counters(t);
    await t.get('/mixed/open').expect(200);
    await t.get('/auth/jwks').expect(200);
    expect([sql(), trips()]).toEqual([[], 0]);
  });

  it('a public one costs nothing even where it carries a token', async () => {
    const { access_token: token } = await t.session();
    const { sql, trips } = counters(t);
    await t.get('/mixed/open', token).expect(200);
    expect([sql(), trips()]).toEqual([[], 0]);
  });

  it('a refused one: nothing', async () => {
    const { sql, trips } = counters(t);
    await t.get('/mixed/closed').expect(401);
    await t.get('/mixed/closed', 'a.b.c').expect(401);
    expect([sql(), trips()]).toEqual([[], 0]);
  });

  it('a refresh: at most four statements and two store round trips, the limit and the denylist', async () => {
    const { refresh_token: token } = await t.session();
    const { sql, trips } = counters(t);
    await t.refresh(token).expect(200);
    expect(sql().length).toBeLessThanOrEqual(4);
    expect(trips()).toBe(2);
  });

  it('a tolerated replay: the same', async () => {
    const { refresh_token: token } = await t.session();
    await t.refresh(token).expect(200);
    const { sql, trips } = counters(t);
    await t.refresh(token).expect(200);
    expect(sql().length).toBeLessThanOrEqual(4);
    expect(trips()).toBe(2);
  });

  it('ending every session: one statement and one store round trip more than the look-ups, however many there are', async () => {
    const { access_token: token } = await t.session();
    for (let i = 0; i < 20; i++) await t.auth.startSession(1);
    const { sql, trips } = counters(t);
    await t.call('delete', '/auth/sessions', token).expect(204);
    // The guard's user read, the pin, the end of all; the guard's denylist read, the denial of all.
    expect([sql().length, trips()]).toEqual([3, 2]);
  });

  it('a login: one look-up, one hash, one insert and one look at what is stored by then, and the limits by client and by failures', async () => {
    const hashes = jest.spyOn(t.app.get(PasswordHasher), 'verify');
    const { sql, trips } = counters(t);
    await t.login('ada@example.com').expect(200);
    expect([sql().length, trips(), hashes.mock.calls.length]).toEqual([3, 3, 1]);
  });
});
