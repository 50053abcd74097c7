import { EventEmitter } from 'node:events';
import { RefreshTokenReused, SessionEnded } from '@svc/auth';
import { Client } from 'pg';
import { TestApp, type Tokens, claimsOf } from '../support/hosts/app';
import { PausePoint } from '../support/faults/pause-point';
import { createDatabase, whileUnreachable } from '../support/stores/database';
import { onStatement } from '../support/stores/denylist-state';
import { eventually } from '../support/runtime/eventually';
import { PostgresServer } from '../support/stores/postgres';
import { describeWithRedis } from '../support/stores/with-redis';
import { BrokenNode } from './scenarios/broken-node';
import { ADA } from '../support/hosts/user-entities';

/** The store timeout where requests wait for a PostgreSQL that does not answer. Afterwards requests are repeated. */
const SILENT_MS = 5000;

const WAITING = `SELECT count(*)::int AS n FROM pg_stat_activity
                  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** Waits until a guarded request and a refresh succeed again. Until then they must be answered 503. */
async function recovered(t: TestApp, live: Tokens): Promise<void> {
  for (const ask of [() => t.get('/private', live.access_token), () => t.refresh(live.refresh_token)]) {
    await eventually(async () => {
      const { status } = await ask();
      expect([200, 503]).toContain(status);
      return status === 200;
    });
  }
}

/** Changes settings of a database through a connection to another database. */
async function onServer(...statements: string[]): Promise<void> {
  const operator = new Client({ connectionString: process.env.TEST_DATABASE_URL });
  await operator.connect();
  for (const statement of statements) await operator.query(statement);
  await operator.end();
}

describe('a PostgreSQL', () => {
  const t = TestApp.forFile({ pool: { max: 5 }, options: { storeTimeoutMs: SILENT_MS } });
  let live: Tokens;
  /** A connection of another client of the same database. */
  let other: Client;

  beforeEach(async () => {
    await t.person(ADA);
    live = await t.session();
    other = new Client({ connectionString: t.databaseUrl });
    // A test may end every connection.
    other.on('error', () => undefined);
    await other.connect();
  });
  afterEach(() => other.end());

  const name = (): string => new URL(t.databaseUrl).pathname.slice(1);
  const cutAll = (): string => `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name()}'`;
  const lockSession = async (): Promise<void> => {
    await other.query('BEGIN');
    await other.query('SELECT 1 FROM svc_sessions WHERE id = $1 FOR UPDATE', [claimsOf(live.access_token).fid]);
  };
  const waiting = async (): Promise<number> => {
    // Within a transaction, PostgreSQL lists the connections of the first query only.
    await other.query('SELECT pg_stat_clear_snapshot()');
    return (await other.query(WAITING)).rows[0].n;
  };

  it('that is unavailable is answered 503, and requests succeed after it has recovered', async () => {
    await whileUnreachable(t.databaseUrl, async () => {
      for (const request of [
        t.get('/private', live.access_token),
        t.refresh(live.refresh_token),
        t.login(ADA),
        t.call('post', '/auth/logout', live.access_token),
      ]) {
        await request.expect(503);
      }
    });
    await t.get('/private', live.access_token).expect(200);
    await t.refresh(live.refresh_token).expect(200);
  });

  it('that is read-only refuses writes with 503, accepts valid access tokens, and consumes nothing', async () => {
    await onServer(`ALTER DATABASE ${name()} SET default_transaction_read_only = on`, cutAll());
    await eventually(async () => (await t.get('/private', live.access_token)).status === 200);
    for (let i = 0; i < 2; i++) {
      for (const request of [
        t.login(ADA),
        t.refresh(live.refresh_token),
        t.call('post', '/auth/logout', live.access_token),
        t.call('delete', '/auth/sessions', live.access_token),
      ]) {
        await request.expect(503).expect('Retry-After', '1');
      }
    }
    await onServer(`ALTER DATABASE ${name()} RESET default_transaction_read_only`, cutAll());
    await recovered(t, live);
  });

  it('that holds a lock on one session gets its connections back, and other sessions continue', async () => {
    const bystander = await t.session();
    await lockSession();
    const answers = await Promise.all(Array.from({ length: 20 }, () => t.refresh(live.refresh_token)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    await recovered(t, bystander);
    await other.query('ROLLBACK');
    await eventually(async () => {
      const [{ n }] = await t.database.query(
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'",
      );
      return n === 0;
    });
    await t.refresh(live.refresh_token).expect(200);
  });

  it('that holds a table lock gets the waiting statements cancelled on the server', async () => {
    await other.query('BEGIN; LOCK TABLE people');
    for (let i = 0; i < 2; i++) {
      await Promise.all(Array.from({ length: 10 }, () => t.get('/private', live.access_token).expect(503)));
    }
    // The server has ended every timed out statement, so that repeated requests do not exhaust its connections.
    expect(await waiting()).toBeLessThanOrEqual(5);
    await eventually(async () => (await waiting()) === 0);
    await other.query('ROLLBACK');
    await recovered(t, live);
  });

  it('that ends the connection during a request is answered 503', async () => {
    await lockSession();
    const refused = t.refresh(live.refresh_token).then((answer) => answer);
    await eventually(async () => (await waiting()) > 0);
    await other.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    expect((await refused).status).toBe(503);
    await other.query('ROLLBACK');
    await recovered(t, live);
  });

  it('that commits a refresh but loses the response is answered 503, and a retry gets the same successor', async () => {
    const ended = [t.recorded(SessionEnded), t.recorded(RefreshTokenReused)];
    const answer = new PausePoint();
    onStatement(/SET generation/, () => answer.pass());
    await t.refresh(live.refresh_token).expect(503).expect('Retry-After', '1');
    jest.restoreAllMocks();
    answer.resume();
    const { body } = await t.refresh(live.refresh_token).expect(200);
    const { body: again } = await t.refresh(live.refresh_token).expect(200);
    expect(again.refresh_token).toBe(body.refresh_token);
    expect(await t.database.query('SELECT generation FROM svc_sessions')).toEqual([{ generation: 1 }]);
    await t.refresh(body.refresh_token).expect(200);
    expect(ended.flat()).toEqual([]);
  });

  it('that ends a connection before its error listener exists does not crash the process', async () => {
    const driver = t.database.driver as unknown as {
      obtainMasterConnection(): Promise<[client: EventEmitter, release: () => void]>;
    };
    const obtain = driver.obtainMasterConnection.bind(driver);
    const early = jest.spyOn(driver, 'obtainMasterConnection').mockImplementation(async () => {
      const connection = await obtain();
      connection[0].emit('error', new Error('terminating connection due to administrator command'));
      return connection;
    });
    await t.refresh(live.refresh_token).expect(200);
    expect(early).toHaveBeenCalled();
    early.mockRestore();
  });
});

describe('an application on a database with special settings', () => {
  async function startWith(setting: string): Promise<{ t: TestApp; stop: () => Promise<void> }> {
    const { url, drop } = await createDatabase();
    const name = new URL(url).pathname.slice(1);
    await onServer(`ALTER DATABASE ${name} SET ${setting}`);
    // A long timeout: even on a slow machine, no request times out.
    const t = await TestApp.start({ databaseUrl: url, options: { storeTimeoutMs: 20_000 } });
    await t.person(ADA);
    const stop = async (): Promise<void> => {
      await t.stop();
      await onServer(`ALTER DATABASE ${name} RESET ALL`);
      await drop();
    };
    return { t, stop };
  }

  it('replaces connections that stay read-only, as those to a former primary', async () => {
    const { url, drop } = await createDatabase();
    const name = new URL(url).pathname.slice(1);
    // The pool itself keeps its connections.
    const t = await TestApp.start({ databaseUrl: url, pool: { max: 2, idleTimeoutMillis: 0 } });
    await t.person(ADA);
    const live = await t.session();
    await onServer(
      `ALTER DATABASE ${name} SET default_transaction_read_only = on`,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
    );
    await eventually(async () => (await t.get('/private', live.access_token)).status === 200);
    await Promise.all(Array.from({ length: 4 }, () => t.login(ADA).expect(503)));
    // Only for connections that are opened from now on.
    await onServer(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    await recovered(t, live);
    await t.login(ADA).expect(200);
    await t.stop();
    await drop();
  });

  it('refreshes concurrently at any default isolation level', async () => {
    const { t, stop } = await startWith("default_transaction_isolation = 'serializable'");
    const { refresh_token: token } = await t.session();
    const answers = await Promise.all(Array.from({ length: 20 }, () => t.refresh(token)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await stop();
  });

  it('repeats a request after a deadlock with the host', async () => {
    // PostgreSQL must abort the request and not the host's transaction.
    const { t, stop } = await startWith("deadlock_timeout = '300ms'");
    const sessions = [await t.session(), await t.session()];
    const [first, last] = sessions.map(({ access_token: token }) => String(claimsOf(token).fid)).toSorted();
    const host = new Client({ connectionString: t.databaseUrl });
    await host.connect();
    await host.query("SET deadlock_timeout = '60s'; BEGIN");
    const lock = (id: string | undefined) => host.query('SELECT 1 FROM svc_sessions WHERE id = $1 FOR UPDATE', [id]);
    await lock(last);
    const request = t.call('delete', '/auth/sessions', sessions[0]!.access_token).then(({ status }) => status);
    await eventually(async () => (await t.database.query(WAITING))[0].n > 0);
    // Succeeds only after the transaction of the request was rolled back.
    await lock(first);
    await host.query('ROLLBACK');
    await host.end();
    expect(await request).toBe(204);
    for (const { refresh_token: token } of sessions) await t.refresh(token).expect(401);
    await stop();
  });
});

describe.each([1, 5])('a connection pool of %d', (max) => {
  let t: TestApp;
  const start = async (options: object): Promise<void> => {
    t = await TestApp.start({ pool: { max }, options });
    await t.person(ADA);
  };
  afterEach(() => t.stop());

  it('is sufficient for any number of requests: none holds a connection while it waits for another', async () => {
    // A long timeout: even on a slow machine, a 503 here means a deadlock on the pool.
    await start({ storeTimeoutMs: 20_000 });
    const sessions: Tokens[] = [];
    for (let i = 0; i < 12; i++) sessions.push(await t.session());
    const answers = await Promise.all(
      sessions.flatMap(({ access_token: access, refresh_token: refresh }, i) => [
        t.refresh(refresh),
        t.get('/private', access),
        t.login(ADA),
        ...(i % 3 ? [] : [t.call('delete', '/auth/sessions/others', access)]),
      ]),
    );
    // Other requests have ended some of these sessions.
    expect(answers.map(({ status }) => status).filter((status) => ![200, 204, 401].includes(status))).toEqual([]);
  });

  it('that the host has exhausted makes requests fail with 503 until it releases a connection', async () => {
    await start({});
    const live = await t.session();
    const holder = new Client({ connectionString: t.databaseUrl });
    await holder.connect();
    await holder.query('SELECT pg_advisory_lock(1)');
    const kept = Promise.all(
      Array.from({ length: max }, () => t.database.query('SELECT pg_advisory_xact_lock_shared(1)')),
    );
    await eventually(async () => (await holder.query(WAITING)).rows[0].n === max);
    const requests = [t.get('/private', live.access_token), t.refresh(live.refresh_token), t.login(ADA)];
    for (const { status, headers } of await Promise.all(requests)) {
      expect({ status, after: headers['retry-after'] }).toEqual({ status: 503, after: '1' });
    }
    await holder.end();
    await kept;
    await recovered(t, live);
  });
});

describeWithRedis('connections to PostgreSQL that are lost without a packet', () => {
  it('are replaced, even if they are all connections of the pool', async () => {
    const node = await BrokenNode.start((stores) =>
      TestApp.start({ ...stores, pool: { max: 5 }, options: { storeTimeoutMs: SILENT_MS } }),
    );
    await node.t.person(ADA);
    const live = await node.t.session();
    await Promise.all(Array.from({ length: 20 }, () => node.t.get('/private', live.access_token)));
    node.postgres.lose();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => [
        node.t.login(ADA),
        node.t.refresh(live.refresh_token),
        node.t.get('/private', live.access_token),
      ]).flat(),
    );
    for (const { status } of answers) expect([200, 503]).toContain(status);
    await recovered(node.t, live);
    await node.t.login(ADA).expect(200);
    await node.stop();
  });
});

describe('a separate PostgreSQL server', () => {
  it('without a free connection is answered 503 until it has one', async () => {
    const postgres = await PostgresServer.start({ max_connections: '12', superuser_reserved_connections: '0' });
    const t = await TestApp.start({ databaseUrl: postgres.url, pool: { max: 5 } });
    await t.person(ADA);
    const live = await t.session();
    const others: Client[] = [];
    for (let full = false; !full;) {
      const other = new Client({ connectionString: postgres.directUrl });
      other.on('error', () => undefined);
      // The application loses its connections, and another client takes them.
      postgres.proxy.cut();
      full = await other.connect().then(
        () => !others.push(other),
        ({ code }) => code === '53300',
      );
    }
    for (const request of [t.get('/private', live.access_token), t.refresh(live.refresh_token), t.login(ADA)]) {
      await request.expect(503).expect('Retry-After', '1');
    }
    for (const other of others) await other.end();
    await recovered(t, live);
    await t.stop();
    await postgres.remove();
  });
});
