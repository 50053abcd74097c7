import { eventually } from '../support/runtime/eventually';
import { TestApp, type Tokens } from '../support/hosts/app';
import { createDatabase } from '../support/stores/database';
import { CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { TcpProxy } from '../support/faults/tcp-proxy';
import { ADA } from '../support/hosts/user-entities';

const BOB = 'bob@example.com';

/** A process that was frozen does not learn that its connections have died until it uses them. */
describe.each<[string, (proxy: TcpProxy) => void]>([
  ['are reset at their next use', (proxy) => proxy.forget()],
  ['never answer', (proxy) => proxy.lose()],
])('the connections of PostgreSQL that died while the process was frozen, and %s,', (_, die) => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let proxy: TcpProxy;
  const t = TestApp.forFile(async () => {
    database = await createDatabase();
    proxy = await TcpProxy.to(Number(new URL(database.url).port || 5432));
    return { databaseUrl: proxy.through(database.url), pool: { max: 5, idleTimeoutMillis: 0 } };
  });
  afterAll(async () => {
    await proxy.close();
    await database.drop();
  });

  /** A minute later, also for the age of connections. */
  function thaw(): void {
    const now = Date.now;
    jest.spyOn(Date, 'now').mockImplementation(() => now() + 60_000);
  }

  async function live(): Promise<Tokens[]> {
    await t.person(ADA);
    await t.person(BOB);
    const tokens = [await t.session(ADA), await t.session(ADA), await t.session(ADA), await t.session(BOB)];
    // Every connection of the pool was used.
    await Promise.all(Array.from({ length: 5 }, () => t.database.query('SELECT pg_sleep(0.05)')));
    await Promise.all(Array.from({ length: 5 }, () => t.login(ADA).expect(200)));
    return tokens;
  }

  it('fail no request, whether it reads or writes', async () => {
    const [guarded, refreshed, loggedOut, erased] = await live();
    const proof = await confirmationTokenOf(t, erased!.access_token);
    die(proxy);
    thaw();
    const answers = await Promise.all([
      t.get('/private', guarded!.access_token),
      t.refresh(refreshed!.refresh_token),
      t.login(ADA),
      t.call('post', '/auth/logout', loggedOut!.access_token),
      t.call('delete', '/auth/account', erased!.access_token).set(CONFIRMATION_HEADER, proof),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 204, 204]);
  });
});

describe('the connections of PostgreSQL that stop answering during transactions', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let proxy: TcpProxy;
  const t = TestApp.forFile(async () => {
    database = await createDatabase();
    proxy = await TcpProxy.to(Number(new URL(database.url).port || 5432));
    return { databaseUrl: proxy.through(database.url), pool: { max: 2 }, options: { storeTimeoutMs: 800 } };
  });
  afterAll(async () => {
    await proxy.close();
    await database.drop();
  });

  it('give their places in the pool back', async () => {
    await t.person(ADA);
    const tokens = [await t.session(ADA), await t.session(ADA)];
    const { access_token: other } = await t.session(ADA);
    const logout = ({ access_token }: Tokens) => t.call('post', '/auth/logout', access_token);
    const begun = new Promise<void>((resolve) => proxy.instead('BEGIN', () => (proxy.lose(), resolve())));
    const answers = Promise.all(tokens.map(logout));
    await begun;
    expect((await answers).map(({ status }) => status)).toContain(503);
    await eventually(async () => (await t.get('/private', other)).status === 200);
    // As many requests at the same time as there are places.
    await eventually(async () =>
      (await Promise.all([t.login(ADA), t.login(ADA)])).every(({ status }) => status === 200),
    );
  });
});
