import { AuthConfigError, type AuthModuleOptions, Pruning } from '@svc/auth';
import { Client } from 'pg';
import { TestApp, type Tokens } from '../support/hosts/app';
import { type TestDatabase, createDatabase } from '../support/stores/database';
import { eventually } from '../support/runtime/eventually';
import { PgBouncer, type PgBouncerOptions, pgbouncerBinary } from '../support/stores/pgbouncer';
import { PostgresServer } from '../support/stores/postgres';
import { TcpProxy } from '../support/faults/tcp-proxy';
import { ADA } from '../support/hosts/user-entities';

// Debian's PgBouncer is 1.18, which does not support prepared statements in transaction mode.
const describeWithPgBouncer = pgbouncerBinary ? describe : describe.skip;

/** A long timeout: even on a slow machine, no request runs out of time. */
const PATIENT = { storeTimeoutMs: 20_000 };

/** The errors of prepared statements, as the server logs them: unknown, and already prepared by another client. */
const OF_PREPARED_STATEMENTS = ['26000', '42P05'];

/** Records the codes of failed statements of this process until the test ends. */
function failures(): string[] {
  const codes: string[] = [];
  const query = Client.prototype.query as (...args: unknown[]) => Promise<unknown>;
  jest.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...args: unknown[]) {
    const answer = query.apply(this, args);
    answer?.catch?.(({ code }: { code: string }) => codes.push(code));
    return answer as never;
  });
  return codes;
}

describeWithPgBouncer('an application behind PgBouncer', () => {
  let database: TestDatabase;
  let pooler: PgBouncer;
  let t: TestApp;
  const stops: (() => Promise<unknown>)[] = [];

  beforeEach(async () => (database = await createDatabase()));
  afterEach(async () => {
    for (const stop of stops.splice(0).toReversed()) await stop();
    await database.drop();
  });

  async function startPooler({ target = database.url, ...options }: Partial<PgBouncerOptions> = {}): Promise<void> {
    pooler = await PgBouncer.start({ target, mode: 'transaction', ...options });
    const started = pooler;
    stops.push(() => started.stop());
  }
  async function start(options: Partial<AuthModuleOptions> = PATIENT, databaseUrl = pooler.url): Promise<void> {
    t = await TestApp.start({ databaseUrl, options });
    const started = t;
    stops.push(() => started.stop());
  }

  /** Sends one request of each kind for each session, all at once. Returns the answers that are not 200. */
  async function rush(sessions: Tokens[]): Promise<number[]> {
    const answers = await Promise.all(
      sessions.flatMap((session, i) => [
        t.login(`user${i}@example.com`),
        t.get('/private', session.access_token),
        t.refresh(session.refresh_token).then((answer) => {
          Object.assign(session, answer.status === 200 && answer.body);
          return answer;
        }),
      ]),
    );
    return answers.map(({ status }) => status).filter((status) => status !== 200);
  }
  async function sessionsOf(count: number): Promise<Tokens[]> {
    const sessions: Tokens[] = [];
    for (let i = 0; i < count; i++) {
      await t.person(`user${i}@example.com`);
      sessions.push(await t.session(`user${i}@example.com`));
    }
    return sessions;
  }

  describe('that pools transactions', () => {
    it('answers 240 requests at once over two connections of the server', async () => {
      await startPooler({ settings: { default_pool_size: '2' } });
      await start();
      const sessions = await sessionsOf(80);
      for (let round = 0; round < 3; round++) expect(await rush(sessions)).toEqual([]);
      const pools = await pooler.command('SHOW POOLS');
      const ours = pools.find((pool) => pool.database === new URL(database.url).pathname.slice(1))!;
      expect(Number(ours.sv_active) + Number(ours.sv_idle) + Number(ours.sv_used)).toBeLessThanOrEqual(2);
    });

    it('causes no error of a prepared statement with preparedStatements: false, and leaves none on the server', async () => {
      await startPooler({ settings: { default_pool_size: '3' } });
      const codes = failures();
      await start({ ...PATIENT, preparedStatements: false });
      const sessions = await sessionsOf(20);
      for (let round = 0; round < 3; round++) expect(await rush(sessions)).toEqual([]);
      await t.call('delete', '/auth/sessions', sessions[0]!.access_token).expect(204);
      expect(codes).toEqual([]);
      // Each connection of the server gets some of these statements.
      const left = await Promise.all(
        Array.from({ length: 30 }, () => t.database.query('SELECT name FROM pg_prepared_statements')),
      );
      expect(left.flat()).toEqual([]);
    });

    it('prepares no further statement after the first error, if preparedStatements is not set', async () => {
      await startPooler({ settings: { default_pool_size: '3' } });
      const codes = failures();
      await start();
      const sessions = await sessionsOf(20);
      for (let round = 0; round < 3; round++) expect(await rush(sessions)).toEqual([]);
      expect(codes.length).toBeGreaterThan(0);
      for (const code of codes) expect(OF_PREPARED_STATEMENTS).toContain(code);
      codes.length = 0;
      for (let round = 0; round < 3; round++) expect(await rush(sessions)).toEqual([]);
      expect(codes).toEqual([]);
    });

    it('prunes under its lock', async () => {
      await startPooler({ settings: { default_pool_size: '2' } });
      await start();
      expect(await t.app.get(Pruning).runUnlessActive()).toMatchObject({ sessions: 0 });
      expect(await t.app.get(Pruning).runUnlessActive()).toMatchObject({ sessions: 0 });
    });

    it('cancels the statement of a request that was answered 503', async () => {
      await startPooler({ settings: { default_pool_size: '3' } });
      await start({ storeTimeoutMs: 1500 });
      await t.person(ADA);
      const live = await t.session();
      const [other, observer] = [database.url, database.url].map((url) => new Client({ connectionString: url }));
      await Promise.all([other!.connect(), observer!.connect()]);
      await other!.query('BEGIN; SELECT 1 FROM svc_sessions FOR UPDATE');
      const waiting = async (): Promise<number> =>
        (
          await observer!.query(`SELECT count(*)::int AS n FROM pg_stat_activity
                                  WHERE datname = current_database() AND wait_event_type = 'Lock'`)
        ).rows[0].n;
      const refused = t.refresh(live.refresh_token).then(({ status }) => status);
      await eventually(async () => (await waiting()) > 0);
      expect(await refused).toBe(503);
      // While the row is still locked.
      await eventually(async () => (await waiting()) === 0);
      await other!.query('ROLLBACK');
      await Promise.all([other!.end(), observer!.end()]);
      await eventually(async () => (await t.refresh(live.refresh_token)).status === 200);
    });

    it('answers 503 while it has no connection of the server for a statement, and recovers', async () => {
      await startPooler({ settings: { default_pool_size: '1', query_wait_timeout: '1' } });
      await start();
      await t.person(ADA);
      const live = await t.session();
      const other = new Client({ connectionString: pooler.url });
      await other.connect();
      await other.query('BEGIN');
      for (const request of [t.login(ADA), t.get('/private', live.access_token), t.refresh(live.refresh_token)])
        await request.expect(503).expect('Retry-After', '1');
      expect(pooler.log).toContain('query_wait_timeout');
      await other.query('COMMIT');
      await other.end();
      await t.get('/private', live.access_token).expect(200);
      await t.refresh(live.refresh_token).expect(200);
    });

    it('answers 503 while it accepts no more clients, and recovers', async () => {
      await startPooler({ settings: { max_client_conn: '8' } });
      const proxy = await TcpProxy.to(Number(new URL(pooler.url).port));
      stops.push(() => proxy.close());
      await start(PATIENT, proxy.through(pooler.url));
      await t.person(ADA);
      const live = await t.session();
      const others: Client[] = [];
      for (let isFull = false; !isFull;) {
        proxy.cut();
        const other = new Client({ connectionString: pooler.url });
        other.on('error', () => undefined);
        isFull = await other.connect().then(
          () => !others.push(other),
          () => true,
        );
      }
      for (const request of [t.login(ADA), t.get('/private', live.access_token), t.refresh(live.refresh_token)])
        await request.expect(503).expect('Retry-After', '1');
      expect(pooler.log).toContain('no more connections allowed');
      for (const other of others) await other.end();
      await eventually(async () => (await t.get('/private', live.access_token)).status === 200);
      await t.refresh(live.refresh_token).expect(200);
    });

    it('answers 503 while it is stopped, and recovers with its successor', async () => {
      await startPooler();
      const proxy = await TcpProxy.to(Number(new URL(pooler.url).port));
      stops.push(() => proxy.close());
      await start(PATIENT, proxy.through(pooler.url));
      await t.person(ADA);
      const live = await t.session();
      await pooler.stop();
      for (const request of [t.login(ADA), t.get('/private', live.access_token), t.refresh(live.refresh_token)])
        await request.expect(503).expect('Retry-After', '1');
      await startPooler();
      proxy.target = Number(new URL(pooler.url).port);
      await t.get('/private', live.access_token).expect(200);
      await t.refresh(live.refresh_token).expect(200);
    });

    it('answers 503 while PostgreSQL restarts behind it, and recovers', async () => {
      const postgres = await PostgresServer.start();
      stops.push(() => postgres.remove());
      await startPooler({ target: postgres.url, settings: { server_login_retry: '1' } });
      await start({ storeTimeoutMs: 1000 });
      await t.person(ADA);
      const live = await t.session();
      for (const crash of [false, true]) {
        await postgres.stop(crash);
        for (const request of [t.login(ADA), t.get('/private', live.access_token), t.refresh(live.refresh_token)])
          await request.expect(503).expect('Retry-After', '1');
        await postgres.startAgain();
        await eventually(async () => {
          const { status } = await t.get('/private', live.access_token);
          expect([200, 503]).toContain(status);
          return status === 200;
        });
      }
      await t.refresh(live.refresh_token).expect(200);
    });
  });

  describe('that pools statements', () => {
    it('does not start with routes: the error names the pooling and the correction', async () => {
      await startPooler({ mode: 'statement' });
      const started = start();
      await expect(started).rejects.toThrow(AuthConfigError);
      await expect(started).rejects.toThrow(/pools statements.*Set pool_mode = transaction/);
    });

    it('does not start either without prepared statements', async () => {
      await startPooler({ mode: 'statement' });
      await expect(start({ ...PATIENT, preparedStatements: false })).rejects.toThrow(/pools statements/);
    });

    it('starts a service that only verifies', async () => {
      await startPooler({ mode: 'statement' });
      await start({ ...PATIENT, verifyOnly: true });
    });
  });

  it('that pools sessions prepares statements', async () => {
    await startPooler({ mode: 'session', settings: { default_pool_size: '20' } });
    const codes = failures();
    await start();
    const sessions = await sessionsOf(20);
    for (let round = 0; round < 3; round++) expect(await rush(sessions)).toEqual([]);
    expect(codes).toEqual([]);
    expect(await t.database.query('SELECT 1 FROM pg_prepared_statements LIMIT 1')).toHaveLength(1);
  });
});
