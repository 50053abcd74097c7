import { AuthHealth, AuthModule, type AuthModuleOptions } from '@svc/auth';
import { Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { generateKeyPairSync } from 'node:crypto';
import { Client } from 'pg';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { TestApp } from '../support/hosts/app';
import { createDatabase, whileUnreachable } from '../support/stores/database';
import { eventually } from '../support/runtime/eventually';
import { HealthModule, UP, down, healthOf, isUp, newHealthOf } from '../support/views/health';
import { recordStatements } from '../support/stores/query-plans';
import { TcpProxy } from '../support/faults/tcp-proxy';
import { describeWithRedis, sharedRedisUrl } from '../support/stores/with-redis';

const reasonOf = async (t: TestApp): Promise<unknown> =>
  ((await newHealthOf(t)).details.auth_postgres as { reason?: string }).reason;

describe('the health of PostgreSQL', () => {
  const t = TestApp.forFile({ imports: [HealthModule] });

  it('is up in normal operation, also under names of the host', async () => {
    expect(await newHealthOf(t)).toEqual({ status: 200, details: UP });
    const { body } = await t.get('/health/mine').expect(200);
    expect(body.details).toEqual({ db: { status: 'up' }, signing: { status: 'up' } });
  });

  it('is down while no connection is possible, and up again afterwards', async () => {
    await whileUnreachable(t.databaseUrl, async () => {
      const details = { ...UP, auth_postgres: down('unreachable', 'read'), auth_migrations: down('unreachable') };
      expect(await newHealthOf(t)).toEqual({ status: 503, details });
    });
    await eventually(() => isUp(t));
  });

  it('is down while every connection is busy, without a wait for one', async () => {
    const busy = Array.from({ length: 20 }, () => t.database.createQueryRunner());
    await Promise.all(busy.map((runner) => runner.connect()));
    expect(await newHealthOf(t)).toMatchObject({
      status: 503,
      details: { auth_postgres: down('unreachable', 'read') },
    });
    await Promise.all(busy.map((runner) => runner.release()));
    await eventually(() => isUp(t));
  });

  it.each([
    [
      'a column',
      'ALTER TABLE svc_sessions RENAME COLUMN label TO other',
      'ALTER TABLE svc_sessions RENAME COLUMN other TO label',
    ],
    ['a table', 'ALTER TABLE svc_lockouts RENAME TO other', 'ALTER TABLE other RENAME TO svc_lockouts'],
  ])('is pending if %s is missing, as before a migration', async (_, take, giveBack) => {
    await t.database.query(take);
    try {
      expect(await newHealthOf(t)).toEqual({ status: 503, details: { ...UP, auth_migrations: down('pending') } });
    } finally {
      await t.database.query(giveBack);
    }
    expect(await isUp(t)).toBe(true);
  });

  it('is pending at its step if the table of sessions is missing', async () => {
    await t.database.query('ALTER TABLE svc_sessions RENAME TO other');
    try {
      const details = { ...UP, auth_postgres: down('pending', 'write'), auth_migrations: down('pending') };
      expect(await newHealthOf(t)).toEqual({ status: 503, details });
    } finally {
      await t.database.query('ALTER TABLE other RENAME TO svc_sessions');
    }
    expect(await isUp(t)).toBe(true);
  });

  it('is down at the step "write" while the database is read-only, as a standby is', async () => {
    const name = new URL(t.databaseUrl).pathname.slice(1);
    const reconnect = () =>
      executed(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    const executed = async (statement: string): Promise<void> => {
      const admin = new Client({ connectionString: process.env.TEST_DATABASE_URL });
      await admin.connect();
      await admin.query(statement).finally(() => admin.end());
    };
    await t.person('ada@example.com');
    await executed(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    try {
      await reconnect();
      // The pool may have connections that the server has closed.
      await eventually(async () => (await reasonOf(t)) === 'failed');
      expect(await newHealthOf(t)).toEqual({
        status: 503,
        details: { ...UP, auth_postgres: down('failed', 'write', '25006') },
      });
      await t.login('ada@example.com').expect(503);
    } finally {
      await executed(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
      await reconnect();
    }
    await eventually(() => isUp(t));
  });

  it.each([
    ['write', 'BEFORE INSERT ON svc_sessions FOR EACH STATEMENT'],
    ['commit', 'AFTER INSERT ON svc_sessions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW'],
  ])(
    'is down at the step "%s" if the disk is full then, as logins are, and up at once afterwards',
    async (step, kind) => {
      await t.person('ada@example.com');
      await t.database.query(`
      CREATE FUNCTION svc_test_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE 'could not extend file' USING ERRCODE = 'disk_full';
      END $$;
      CREATE ${step === 'commit' ? 'CONSTRAINT ' : ''}TRIGGER svc_test_full ${kind} EXECUTE FUNCTION svc_test_full()`);
      try {
        const details = { ...UP, auth_postgres: down('failed', step, '53100') };
        expect(await newHealthOf(t)).toEqual({ status: 503, details });
        await t.login('ada@example.com').expect(503);
      } finally {
        await t.database.query('DROP FUNCTION svc_test_full CASCADE');
      }
      // The failed sign-in discards its session now, and not during the next test.
      await t.auth.settled();
      expect(await isUp(t)).toBe(true);
    },
  );

  it('sends one transaction for a hundred requests at the same time, which leaves no row', async () => {
    t.clock.advance(1);
    t.clock.stop();
    const { statements, stop } = recordStatements();
    const results = await Promise.all(Array.from({ length: 100 }, () => healthOf(t)));
    stop();
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set([200]));
    // The node reads its timeline once a second.
    const sent = statements.filter(({ text }) => !text.includes('pg_control_system'));
    const kinds = sent.map(({ text }) => text.trim().slice(0, 20));
    expect(kinds.toSorted()).toEqual([
      'DELETE FROM "svc_ses',
      'INSERT INTO "svc_ses',
      'SELECT 1',
      'SELECT ordinality - ',
    ]);
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
  });

  it('is checked again after a second if it was up, and at once if it was down', async () => {
    t.clock.advance(1);
    t.clock.stop();
    const writes = async (): Promise<number> => {
      const { statements, stop } = recordStatements();
      await healthOf(t);
      stop();
      return statements.filter(({ text }) => text.startsWith('INSERT')).length;
    };
    expect([await writes(), await writes()]).toEqual([1, 0]);
    t.clock.advance(1);
    await t.database.query('ALTER TABLE svc_sessions RENAME TO other');
    expect([await writes(), await writes()]).toEqual([1, 1]);
    await t.database.query('ALTER TABLE other RENAME TO svc_sessions');
    expect([await writes(), await writes()]).toEqual([1, 0]);
  });

  it('is written to the log with its cause, once for each fault', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    await t.database.query('ALTER TABLE svc_lockouts RENAME TO other');
    for (let i = 0; i < 3; i++) await newHealthOf(t);
    await t.database.query('ALTER TABLE other RENAME TO svc_lockouts');
    await newHealthOf(t);
    const lines = error.mock.calls.map(([line]) => line);
    expect(lines).toEqual(['The health check auth_migrations is down (pending). Missing: svc_lockouts.']);
  });

  it('signs a probe that is not accepted as a token, and stores nothing', async () => {
    await newHealthOf(t);
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
  });
});

describe('the health of an application whose PostgreSQL is gone', () => {
  it('is down, and up again when it is back', async () => {
    const database = await createDatabase();
    const proxy = await TcpProxy.to(Number(new URL(database.url).port));
    const t = await TestApp.start({ databaseUrl: proxy.through(database.url), imports: [HealthModule] });
    expect(await isUp(t)).toBe(true);
    for (const fault of ['down', 'hang'] as const) {
      proxy[fault]();
      const details = { ...UP, auth_postgres: down('unreachable', 'read'), auth_migrations: down('unreachable') };
      expect(await newHealthOf(t)).toEqual({ status: 503, details });
      proxy.heal();
      await eventually(() => isUp(t));
    }
    await t.stop();
    await proxy.close();
    await database.drop();
  });
});

describe('an application with routes of its own', () => {
  it('checks its database and its tables', async () => {
    const t = await TestApp.start({ options: { routes: false }, imports: [HealthModule] });
    expect(await newHealthOf(t)).toEqual({ status: 200, details: UP });
    await t.database.query('ALTER TABLE svc_sessions DROP COLUMN label');
    expect(await newHealthOf(t)).toEqual({ status: 503, details: { ...UP, auth_migrations: down('pending') } });
    await t.stop();
  });

  it('that only verifies checks its database, which may be read-only, and not its tables', async () => {
    const t = await TestApp.start({ options: { verifyOnly: true }, imports: [HealthModule] });
    await t.database.query(`
      CREATE FUNCTION svc_test_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE 'cannot execute INSERT in a read-only transaction' USING ERRCODE = 'read_only_sql_transaction';
      END $$;
      CREATE TRIGGER svc_test_refuse BEFORE INSERT ON svc_sessions FOR EACH STATEMENT EXECUTE FUNCTION svc_test_refuse()`);
    const { auth_migrations: _tables, ...rest } = UP;
    expect(await newHealthOf(t)).toEqual({ status: 200, details: rest });
    await t.stop();
  });
});

describe('a service that only verifies tokens', () => {
  /** The results of the service's checks, and how to stop it. */
  async function serviceOn(cache?: AuthModuleOptions['cache']) {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const k1 = String(publicKey.export({ type: 'spki', format: 'pem' }));
    const keys = { active: 'k1', public: { k1 } };
    const provider = { useFactory: () => ({ findById: async () => null }) as never };
    const testing = await Test.createTestingModule({
      imports: [AuthModule.forRoot({ verifyOnly: true, algorithm: 'ES256', keys, users: { provider }, cache })],
    }).compile();
    const app = await testing.createNestApplication({ logger: false }).init();
    const checks = app.get(AuthHealth).indicators();
    const results = async () => Object.assign({}, ...(await Promise.all(checks.map((check) => check()))));
    return { results, stop: () => app.close() };
  }

  it('checks its store and its keys, and no database. Its store is pending without an issuing node', async () => {
    const { results, stop } = await serviceOn();
    expect(await results()).toEqual({ auth_store: down('pending', 'read'), auth_keys: { status: 'up' } });
    await stop();
  });

  describeWithRedis('with the Redis of an issuing node', () => {
    const t = TestApp.forFile();

    it('is up when that node has marked the denylist as complete', async () => {
      expect(t.app).toBeDefined();
      const { cache, client } = await redisCache(sharedRedisUrl()!);
      const { results, stop } = await serviceOn(cache);
      const up = { auth_store: { status: 'up' }, auth_keys: { status: 'up' } };
      await eventually(async () => (await results()).auth_store.status === 'up');
      expect(await results()).toEqual(up);
      await stop();
      await client.disconnect();
    });
  });
});
