import { AuthHealth, AuthModule } from '@svc/auth';
import { Test } from '@nestjs/testing';
import { generateKeyPairSync } from 'node:crypto';
import { Client } from 'pg';
import { TestApp } from '../support/app';
import { eventually } from '../support/eventually';
import { HealthModule, UP, down, healthOf, isUp } from '../support/health';

describe('the health of PostgreSQL', () => {
  const t = TestApp.forFile({ imports: [HealthModule] });

  it('is up in normal operation, also under names of the host', async () => {
    expect(await healthOf(t)).toEqual({ status: 200, details: UP });
    const { body } = await t.get('/health/mine').expect(200);
    expect(body.details).toEqual({ db: { status: 'up' }, signing: { status: 'up' } });
  });

  it('is down while no connection is possible, and up again afterwards', async () => {
    const name = new URL(t.databaseUrl).pathname.slice(1);
    const admin = new Client({ connectionString: process.env.TEST_DATABASE_URL });
    await admin.connect();
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    try {
      await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
      const details = { ...UP, auth_postgres: down('unreachable'), auth_migrations: down('unreachable') };
      expect(await healthOf(t)).toEqual({ status: 503, details });
    } finally {
      await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
      await admin.end();
    }
    await eventually(() => isUp(t));
  });

  it('is down while every connection is busy, without a wait for one', async () => {
    const busy = Array.from({ length: 20 }, () => t.database.createQueryRunner());
    await Promise.all(busy.map((runner) => runner.connect()));
    expect(await healthOf(t)).toMatchObject({ status: 503, details: { auth_postgres: down('unreachable') } });
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
      expect(await healthOf(t)).toEqual({ status: 503, details: { ...UP, auth_migrations: down('pending') } });
    } finally {
      await t.database.query(giveBack);
    }
    expect(await isUp(t)).toBe(true);
  });

  it('signs a probe that is not accepted as a token, and stores nothing', async () => {
    await healthOf(t);
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
  });
});

describe('an application with routes of its own', () => {
  it('checks its database and its tables', async () => {
    const t = await TestApp.start({ options: { routes: false }, imports: [HealthModule] });
    expect(await healthOf(t)).toEqual({ status: 200, details: UP });
    await t.database.query('ALTER TABLE svc_sessions DROP COLUMN label');
    expect(await healthOf(t)).toEqual({ status: 503, details: { ...UP, auth_migrations: down('pending') } });
    await t.stop();
  });

  it('that cannot sign, and so only verifies, checks its database and not its tables', async () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const keys = { active: 'k1', public: { k1: String(publicKey.export({ type: 'spki', format: 'pem' })) } };
    const t = await TestApp.start({ options: { routes: false, algorithm: 'ES256', keys }, imports: [HealthModule] });
    const { auth_migrations: _tables, ...rest } = UP;
    expect(await healthOf(t)).toEqual({ status: 200, details: rest });
    await t.stop();
  });
});

describe('a service that only verifies tokens', () => {
  it('checks its store and its keys, and no database', async () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const k1 = String(publicKey.export({ type: 'spki', format: 'pem' }));
    const keys = { active: 'k1', public: { k1 } };
    const provider = { useFactory: () => ({ findById: async () => null }) as never };
    const testing = await Test.createTestingModule({
      imports: [AuthModule.forRoot({ routes: false, algorithm: 'ES256', keys, users: { provider } })],
    }).compile();
    const app = await testing.createNestApplication({ logger: false }).init();
    const results = await Promise.all(
      app
        .get(AuthHealth)
        .indicators()
        .map((check) => check()),
    );
    expect(Object.assign({}, ...results)).toEqual({ auth_store: { status: 'up' }, auth_keys: { status: 'up' } });
    await app.close();
  });
});
