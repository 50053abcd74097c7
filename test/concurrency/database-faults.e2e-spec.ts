import { EventEmitter } from 'node:events';
import { Client } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestApp, type Tokens, claimsOf } from '../support/app';

describe('when PostgreSQL keeps a request waiting', () => {
  let t: TestApp;
  let other: Client;
  let live: Tokens;

  beforeAll(async () => {
    t = await TestApp.start();
    await t.person('ada@example.com');
  });
  beforeEach(async () => {
    live = await t.session();
    other = new Client({ connectionString: t.databaseUrl });
    await other.connect();
  });
  afterEach(() => other.end());
  afterAll(() => t.stop());

  const lockSession = async (): Promise<void> => {
    await other.query('BEGIN');
    await other.query('SELECT 1 FROM svc_sessions WHERE id = $1 FOR UPDATE', [claimsOf(live.access_token).fid]);
  };

  const quick = async (work: () => PromiseLike<{ status: number }>): Promise<number> => {
    const start = performance.now();
    const { status } = await work();
    expect(performance.now() - start).toBeLessThan(1000);
    return status;
  };

  it('answers 503 within a second, and a revocation answered 503 does not happen later', async () => {
    await lockSession();
    expect(await quick(() => t.call('delete', '/auth/sessions', live.access_token))).toBe(503);
    expect(await quick(() => t.refresh(live.refresh_token))).toBe(503);
    await other.query('ROLLBACK');
    await sleep(200);
    await t.get('/private', live.access_token).expect(200);
    await t.refresh(live.refresh_token).expect(200);
  });

  it('gives the connections back: one locked session does not stop the others', async () => {
    const bystander = await t.session();
    await lockSession();
    const answers = await Promise.all(Array.from({ length: 20 }, () => t.refresh(live.refresh_token)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    await sleep(300);
    await t.get('/private', bystander.access_token).expect(200);
    await t.refresh(bystander.refresh_token).expect(200);
    await other.query('ROLLBACK');
    const [{ waiting }] = await t.database.query(
      "SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'",
    );
    expect(waiting).toBe(0);
    await t.refresh(live.refresh_token).expect(200);
  });

  it('answers a login 503 within a second while the user table is locked', async () => {
    await other.query('BEGIN; LOCK TABLE people');
    expect(await quick(() => t.login('ada@example.com'))).toBe(503);
    expect(await quick(() => t.get('/private', live.access_token))).toBe(503);
    await other.query('ROLLBACK');
    await t.login('ada@example.com').expect(200);
  });

  it('answers 503 when the connection dies in the middle', async () => {
    await lockSession();
    const refused = t.refresh(live.refresh_token).then((answer) => answer);
    await sleep(200);
    await other.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    expect((await refused).status).toBe(503);
    await other.query('ROLLBACK');
    await t.refresh(live.refresh_token).expect(200);
  });

  it('survives a connection that the server ends before anybody listens to it', async () => {
    const { refresh_token: token } = await t.session();
    const driver = t.database.driver as unknown as {
      obtainMasterConnection(): Promise<[client: EventEmitter, release: () => void]>;
    };
    const obtain = driver.obtainMasterConnection.bind(driver);
    const early = jest.spyOn(driver, 'obtainMasterConnection').mockImplementation(async () => {
      const connection = await obtain();
      connection[0].emit('error', new Error('terminating connection due to administrator command'));
      return connection;
    });
    await t.refresh(token).expect(200);
    expect(early).toHaveBeenCalled();
    early.mockRestore();
  });

  it('refreshes in parallel whatever isolation the host`s database defaults to', async () => {
    const name = new URL(t.databaseUrl).pathname.slice(1);
    await other.query(`ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
    const strict = await TestApp.start({ databaseUrl: t.databaseUrl });
    const { refresh_token: token } = await strict.session();
    const answers = await Promise.all(Array.from({ length: 20 }, () => strict.refresh(token)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await strict.stop();
    await other.query(`ALTER DATABASE ${name} RESET default_transaction_isolation`);
  });
});
