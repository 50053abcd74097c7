import { Controller, Get, Module } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { AuthHealth, AuthModule } from '@svc/auth';
import { Test } from '@nestjs/testing';
import { generateKeyPairSync } from 'node:crypto';
import { Client } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { Realms } from '../../libs/auth/src/realm/realm';
import { Keyring } from '../../libs/auth/src/tokens/keyring';
import { TestApp } from '../support/app';
import { SECRET } from '../support/host.module';
import { RedisServer } from '../support/redis';
import { describeWithOwnRedis } from '../support/with-redis';

@Controller('health')
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly auth: AuthHealth,
  ) {}

  @Get()
  @HealthCheck()
  check() {
    return this.health.check(this.auth.indicators());
  }

  @Get('mine')
  @HealthCheck()
  mine() {
    return this.health.check([() => this.auth.postgres('db'), () => this.auth.keys('signing')]);
  }
}

@Module({ imports: [TerminusModule.forRoot({ logger: false })], controllers: [HealthController] })
class HealthModule {}

const NAMES = ['auth_keys', 'auth_migrations', 'auth_postgres', 'auth_store'];
const UP = Object.fromEntries(NAMES.map((name) => [name, { status: 'up' }]));
const down = (reason: string) => ({ status: 'down', reason });

/** The whole answer, which must come within a second and say nothing but this. */
async function healthOf(t: TestApp): Promise<{ status: number; details: Record<string, unknown> }> {
  const start = performance.now();
  const { status, body, text } = await t.get('/health');
  // A second for the checks, which run side by side, and something for a busy machine.
  expect(performance.now() - start).toBeLessThan(2500);
  expect(text).not.toMatch(/127\.0\.0\.1|localhost|secret|ECONN|Error|svc_/);
  return { status, details: body.details };
}

async function until(t: TestApp, status: number): Promise<void> {
  const deadline = performance.now() + 20_000;
  while ((await healthOf(t)).status !== status) {
    expect(performance.now()).toBeLessThan(deadline);
    await sleep(50);
  }
}

describe('the health of PostgreSQL and of the keys', () => {
  let t: TestApp;
  let admin: Client;

  beforeEach(async () => {
    t = await TestApp.start({ imports: [HealthModule] });
    admin = new Client({ connectionString: process.env.TEST_DATABASE_URL });
    await admin.connect();
  });
  afterEach(async () => {
    await admin.end();
    await t.stop();
  });

  it('is up while all is well, under the names a host gives too', async () => {
    expect(await healthOf(t)).toEqual({ status: 200, details: UP });
    const { body } = await t.get('/health/mine').expect(200);
    expect(body.details).toEqual({ db: { status: 'up' }, signing: { status: 'up' } });
  });

  it('is down while no connection can be had, and up again afterwards', async () => {
    const name = new URL(t.databaseUrl).pathname.slice(1);
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    const details = { ...UP, auth_postgres: down('unreachable'), auth_migrations: down('unreachable') };
    await expect(healthOf(t)).resolves.toEqual({ status: 503, details });
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await until(t, 200);
  });

  it('is down within its time while every connection is busy', async () => {
    const busy = Promise.all(Array.from({ length: 20 }, () => t.database.query('SELECT pg_sleep(4)')));
    await sleep(100);
    expect(await healthOf(t)).toMatchObject({ status: 503, details: { auth_postgres: down('unreachable') } });
    await busy;
    await until(t, 200);
  });

  it.each(['ALTER TABLE svc_sessions DROP COLUMN label', 'DROP TABLE svc_lockouts'])(
    'is pending where a migration has not run: %s',
    async (statement) => {
      await t.database.query(statement);
      expect(await healthOf(t)).toEqual({ status: 503, details: { ...UP, auth_migrations: down('pending') } });
    },
  );

  it('is down where the keys of any guard do not verify what they sign', async () => {
    const keyring = t.app.get(Realms).get('admin').get(Keyring);
    const candidates = jest.spyOn(keyring, 'candidates').mockReturnValue([]);
    expect(await healthOf(t)).toEqual({ status: 503, details: { ...UP, auth_keys: down('failed') } });
    candidates.mockImplementation(() => {
      throw new Error(SECRET);
    });
    expect(await healthOf(t)).toEqual({ status: 503, details: { ...UP, auth_keys: down('failed') } });
  });

  it('takes no token for a probe that was signed as one, and leaves nothing behind', async () => {
    await healthOf(t);
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
  });
});

describeWithOwnRedis('the health of the security store', () => {
  let redis: RedisServer;
  let t: TestApp;

  beforeAll(async () => {
    redis = await RedisServer.start();
    t = await TestApp.start({ redisUrl: redis.url, imports: [HealthModule] });
  });
  afterAll(async () => {
    await t.stop();
    await redis.stop();
  });

  const DOWN = { status: 503, details: { ...UP, auth_store: down('unreachable') } };

  it('is down while Redis is stopped, and up again afterwards', async () => {
    expect(await healthOf(t)).toEqual({ status: 200, details: UP });
    await redis.stop();
    expect(await healthOf(t)).toEqual(DOWN);
    await redis.start();
    await until(t, 200);
  });

  it('is down within its time while Redis hangs', async () => {
    redis.freeze();
    expect(await healthOf(t)).toEqual(DOWN);
    redis.thaw();
    await until(t, 200);
  });

  it('is down while Redis takes no writes, although it reads', async () => {
    await redis.command('CONFIG', 'SET', 'min-replicas-to-write', '1');
    expect(await healthOf(t)).toEqual(DOWN);
    await redis.command('CONFIG', 'SET', 'min-replicas-to-write', '0');
    await until(t, 200);
  });
});

describe('a service that only verifies tokens', () => {
  it('asks its store and its keys, and no database', async () => {
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
