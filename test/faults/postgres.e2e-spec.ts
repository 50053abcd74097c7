import { Client } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestApp, type Tokens, claimsOf } from '../support/app';
import { PostgresServer } from '../support/postgres';
import { describeWithRedis } from '../support/with-redis';
import { BrokenNode } from './scenarios/broken-node';

const ADA = 'ada@example.com';

/** Waits until a guarded request and a refresh succeed again; until then they are answered 503. */
async function recovered(t: TestApp, live: Tokens): Promise<void> {
  for (const ask of [() => t.get('/private', live.access_token), () => t.refresh(live.refresh_token)]) {
    for (let status = 0; status !== 200;) {
      ({ status } = await ask());
      expect([200, 503]).toContain(status);
      if (status !== 200) await sleep(20);
    }
  }
}

describe('a PostgreSQL that takes no writes', () => {
  it('refuses what would be written, lets in who is signed in, and consumes nothing', async () => {
    const t = await TestApp.start();
    await t.person(ADA);
    const live = await t.session();
    const name = new URL(t.databaseUrl).pathname.slice(1);
    const operator = new Client({ connectionString: process.env.TEST_DATABASE_URL });
    await operator.connect();
    const switchTo = async (setting: string): Promise<void> => {
      await operator.query(
        `ALTER DATABASE ${name} ${setting} default_transaction_read_only${setting === 'SET' ? ' = on' : ''}`,
      );
      await operator.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    };
    await switchTo('SET');
    while ((await t.get('/private', live.access_token)).status !== 200) await sleep(20);
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
    await switchTo('RESET');
    await recovered(t, live);
    await operator.end();
    await t.stop();
  });
});

describe.each([1, 5])('a connection pool of %d', (max) => {
  let t: TestApp;
  const start = async (options: object): Promise<void> => {
    t = await TestApp.start({ pool: { max }, options });
    await t.person(ADA);
  };
  afterEach(() => t.stop());

  it('is enough for any number of requests: none holds a connection and waits for another', async () => {
    // Time to spare: however slow the machine, who is told 503 here was waiting in a circle.
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
    // Some were ended by the others.
    expect(answers.map(({ status }) => status).filter((status) => ![200, 204, 401].includes(status))).toEqual([]);
  });

  it('that the host keeps to itself makes requests 503 for as long, and no longer', async () => {
    await start({});
    const live = await t.session();
    const kept = Promise.all(Array.from({ length: max }, () => t.database.query('SELECT pg_sleep(3)')));
    await sleep(50);
    const requests = [t.get('/private', live.access_token), t.refresh(live.refresh_token), t.login(ADA)];
    for (const { status, headers } of await Promise.all(requests)) {
      expect({ status, after: headers['retry-after'] }).toEqual({ status: 503, after: '1' });
    }
    await kept;
    await recovered(t, live);
  });
});

describe('a deadlock with what the host does', () => {
  it('is a 503 that has ended nothing, and the same request works afterwards', async () => {
    const before = await TestApp.start();
    await before.person(ADA);
    const name = new URL(before.databaseUrl).pathname.slice(1);
    // The request is to be the one that PostgreSQL sacrifices. Connections from here on know it.
    await before.database.query(`ALTER DATABASE ${name} SET deadlock_timeout = '300ms'`);
    const t = await TestApp.start({ databaseUrl: before.databaseUrl });
    const sessions = [await t.session(), await t.session()];
    const [first, last] = sessions.map(({ access_token: token }) => String(claimsOf(token).fid)).toSorted();
    const host = new Client({ connectionString: t.databaseUrl });
    await host.connect();
    await host.query("SET deadlock_timeout = '60s'; BEGIN");
    const lock = (id: string | undefined) => host.query('SELECT 1 FROM svc_sessions WHERE id = $1 FOR UPDATE', [id]);
    await lock(last);
    const request = t.call('delete', '/auth/sessions', sessions[0]!.access_token).then(({ status }) => status);
    const waits = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while (!(await t.database.query(waits)).length) await sleep(5);
    await lock(first);
    expect(await request).toBe(503);
    await host.query('ROLLBACK');
    await host.end();
    for (const { refresh_token: token } of sessions) await t.refresh(token).expect(200);
    await t.call('delete', '/auth/sessions', sessions[0]!.access_token).expect(204);
    await t.stop();
    await before.stop();
  });
});

describeWithRedis('connections to PostgreSQL that are lost without a word', () => {
  it('are replaced, also where they are all there may be', async () => {
    const node = await BrokenNode.start((stores) => TestApp.start({ ...stores, pool: { max: 5 } }));
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

  it('are not given up for a lock: what waits for one is cancelled, and leaves the server', async () => {
    const t = await TestApp.start({ pool: { max: 5 } });
    await t.person(ADA);
    const live = await t.session();
    const host = new Client({ connectionString: t.databaseUrl });
    await host.connect();
    await host.query('BEGIN; LOCK TABLE people');
    for (let i = 0; i < 3; i++) {
      await Promise.all(Array.from({ length: 10 }, () => t.get('/private', live.access_token).expect(503)));
    }
    // Every one that was given up is gone, so that no number of requests uses up the server's connections.
    const waiting = `SELECT count(*)::int AS n FROM pg_stat_activity
                      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    const count = async (): Promise<number> => (await host.query(waiting)).rows[0].n;
    expect(await count()).toBeLessThanOrEqual(5);
    while ((await count()) > 0) await sleep(50);
    await host.query('ROLLBACK');
    await host.end();
    await recovered(t, live);
    await t.stop();
  });
});

describe('a PostgreSQL of our own', () => {
  it('that has no connection left is a 503 until it has', async () => {
    const postgres = await PostgresServer.start({ max_connections: '12', superuser_reserved_connections: '0' });
    const t = await TestApp.start({ databaseUrl: postgres.url, pool: { max: 5 } });
    await t.person(ADA);
    const live = await t.session();
    const others: Client[] = [];
    for (let full = false; !full;) {
      const other = new Client({ connectionString: postgres.directUrl });
      other.on('error', () => undefined);
      // The application loses what it had, and somebody else takes it.
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
