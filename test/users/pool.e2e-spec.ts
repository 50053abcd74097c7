import { type INestApplication, Logger } from '@nestjs/common';
import { Auth, AuthHealth, PasswordHasher, Pruning, migrateAuth } from '@svc/auth';
import { SoftAuthenticator, totpCode, userProviderContract } from '@svc/auth/testing';
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'pg';
import { Entity } from 'typeorm';
import { freePort } from '../../apps/sample/src/dev/embedded-postgres';
import { startHost } from '../support/hosts/adapter';
import { createDatabase, createEmptyDatabase } from '../support/stores/database';
import { eventually } from '../support/runtime/eventually';
import { CUSTOMERS, PoolHost } from '../support/hosts/pool-host';
import { send } from '../support/hosts/processes';
import { TcpProxy } from '../support/faults/tcp-proxy';
import { Person } from '../support/hosts/user-entities';

const ROOT = join(__dirname, '../..');
const PASSWORD = 'a horse with wings';
const ORIGIN = 'https://app.example.com';
const MIGRATIONS = [
  'CreateSvcSessions1763700000000',
  'CreateSvcLockouts1763800000000',
  'CreateSvcPasskeys1764000000000',
  'CreateSvcPasswordResets1764100000000',
  'CreateSvcEmailChanges1764200000000',
  'CreateSvcKnownDevices1764300000000',
  'CreateSvcTrustedDevices1764400000000',
  'CreateSvcEmailDeliveries1764500000000',
  'CreateSvcIdentities1764600000000',
  'CreateSvcAccessKeys1764700000000',
  'CreateSvcSuspensions1764790000000',
  'CreateSvcAudit1764800000000',
  'CreateSvcAuditKeys1764800000001',
  'CreateSvcSecurityEvents1765000000000',
  'CreateSvcDeviceKeys1765100000000',
];

describe.each([
  ['Express', false],
  ['Fastify', true],
])('a host with a pool and without TypeORM, on %s', (_, fastify) => {
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let proxy: TcpProxy;
  let pool: Pool;
  let app: INestApplication;
  let url: string;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    proxy = await TcpProxy.to(Number(new URL(database.url).port));
    pool = new Pool({ connectionString: proxy.through(database.url), max: 10 });
    await migrateAuth(pool);
    await pool.query(CUSTOMERS);
    const options = {
      features: { registration: true, twoFactor: true, lockout: true, passkeys: true },
      passkeys: { rpId: 'example.com', rpName: 'Example', origins: [ORIGIN] },
      lockout: { maxAttempts: 3 },
      graceSeconds: 1,
    };
    app = await startHost(PoolHost.on(pool, options), { fastify });
    url = await app.getUrl();
  });
  afterAll(async () => {
    await app?.close();
    // The library has not ended the pool of the host.
    await pool.query('SELECT 1');
    await pool.end();
    await proxy.close();
    await database.drop();
  });

  let n = 0;
  const newEmail = (): string => `user${n++}@example.com`;
  const post = (path: string, body: object, token?: string, proof?: string) =>
    send(`${url}/auth/${path}`, 'POST', body, token, { 'X-Svc-Confirmation': proof });
  const login = (email: string, password = PASSWORD) => post('login', { email, password });
  const guarded = async (token?: string): Promise<number> =>
    (await send(`${url}/private`, 'GET', undefined, token)).status;
  async function registered(email = newEmail()) {
    const { status, body } = await post('register', {
      name: 'Ada',
      email,
      password: PASSWORD,
      password_confirmation: PASSWORD,
    });
    expect(status).toBe(200);
    return { email, access: body.access_token!, refresh: body.refresh_token! };
  }
  const proofOf = async (token: string): Promise<string> =>
    (await post('confirm-password', { password: PASSWORD }, token)).body.confirmation_token!;
  const remove = (path: string, token: string, proof: string) =>
    send(`${url}/auth/${path}`, 'DELETE', undefined, token, { 'X-Svc-Confirmation': proof });

  it('registers, refreshes and signs out, and detects the reuse of a refresh token', async () => {
    const { email, access, refresh } = await registered();
    expect(await guarded(access)).toBe(200);
    expect(
      (await post('register', { name: 'Eve', email, password: PASSWORD, password_confirmation: PASSWORD })).status,
    ).toBe(422);
    const { body: next } = await post('refresh', { refresh_token: refresh });
    const { body: third } = await post('refresh', { refresh_token: next.refresh_token });
    await pool.query(`UPDATE svc_sessions SET recent = ARRAY(SELECT t - interval '1 minute' FROM unnest(recent) t)`);
    expect((await post('refresh', { refresh_token: refresh })).status).toBe(401);
    expect(await guarded(third.access_token)).toBe(401);
    expect((await post('refresh', { refresh_token: third.refresh_token })).status).toBe(401);

    const { body: again } = await login(` ${email.toUpperCase()} `);
    expect((await post('logout', {}, again.access_token)).status).toBe(204);
    expect(await guarded(again.access_token)).toBe(401);
  });

  it('registers one account for a mailbox in several spellings, also without a look-up of other spellings', async () => {
    const { email } = await registered('pia@m\u00fcller.example');
    const spellings = [email, 'pia@xn--mller-kva.example', 'Pia@MU\u0308LLER.example'];
    for (const spelling of spellings) {
      const form = { name: 'Pia', email: spelling, password: PASSWORD, password_confirmation: PASSWORD };
      expect((await post('register', form)).status).toBe(422);
      expect((await login(spelling)).status).toBe(200);
    }
    const { rows } = await pool.query("SELECT email FROM customers WHERE email LIKE 'pia%'");
    expect(rows).toEqual([{ email: 'pia@xn--mller-kva.example' }]);
  });

  it('starts and ends sessions in a transaction of a client of the pool', async () => {
    const { access } = await registered();
    const auth = app.get(Auth);
    const { sub } = JSON.parse(Buffer.from(access.split('.')[1]!, 'base64url').toString());
    const client = await pool.connect();
    try {
      for (const end of ['ROLLBACK', 'COMMIT']) {
        await client.query('BEGIN');
        const tokens = await auth.within(client, async () => {
          await auth.revokeAll(sub);
          return auth.startSession(sub);
        });
        await client.query(end);
        await auth.settled();
        const isCommitted = end === 'COMMIT';
        expect(await guarded(access)).toBe(isCommitted ? 401 : 200);
        expect((await post('refresh', { refresh_token: tokens.refreshToken })).status).toBe(isCommitted ? 200 : 401);
      }
    } finally {
      client.release();
    }
    const { accessToken } = await auth.transaction(() => auth.startSession(sub));
    expect(await guarded(accessToken)).toBe(200);
  });

  it('locks an account after failures', async () => {
    const { email } = await registered();
    for (const _attempt of [1, 2, 3]) expect((await login(email, 'wrong')).status).toBeGreaterThanOrEqual(422);
    expect((await login(email)).status).toBe(423);
    expect((await pool.query('SELECT count(*)::int AS n FROM svc_lockouts WHERE locked_at IS NOT NULL')).rows).toEqual([
      { n: 1 },
    ]);
  });

  it('has a second factor', async () => {
    const { email, access } = await registered();
    const proof = await proofOf(access);
    const { body } = await post('two-factor', {}, access, proof);
    expect((await post('two-factor/confirm', { code: totpCode(body.otpauth_uri!) }, access, proof)).status).toBe(204);
    const code = (body as unknown as { recovery_codes: string[] }).recovery_codes[0];
    const { body: challenge } = await login(email);
    const answer = { challenge_token: challenge.challenge_token, recovery_code: code };
    expect((await post('two-factor-challenge', answer)).status).toBe(200);
    const { body: another } = await login(email);
    expect((await post('two-factor-challenge', { ...answer, challenge_token: another.challenge_token })).status).toBe(
      422,
    );
  });

  it('has passkeys, and prunes those of users that no longer exist', async () => {
    const { access } = await registered();
    const proof = await proofOf(access);
    const device = new SoftAuthenticator(ORIGIN);
    const { body: creation } = await post('passkeys/registration-options', {}, access, proof);
    const credential = device.create(creation as never);
    expect((await post('passkeys', { credential }, access, proof)).status).toBe(204);
    const { body } = await post('passkeys/login-options', {});
    const { ceremony_id, options } = body as unknown as { ceremony_id: string; options: never };
    expect((await post('passkeys/login', { ceremony_id, credential: device.get(options) })).status).toBe(200);
    await pool.query("UPDATE svc_passkeys SET user_id = '987654321'");
    await pool.query(
      "UPDATE svc_sessions SET expires_at = now() - interval '1 day' WHERE id = (SELECT id FROM svc_sessions LIMIT 1)",
    );
    const pruned = await app.get(Pruning).run();
    expect(pruned.passkeys).toBe(1);
    expect(pruned.sessions).toBeGreaterThan(0);
  });

  it('deletes the user and its data in one transaction', async () => {
    const { email, access } = await registered();
    await pool.query('CREATE TABLE orders (customer bigint REFERENCES customers (id))');
    await pool.query('INSERT INTO orders SELECT id FROM customers WHERE email = $1', [email]);
    const proof = await proofOf(access);
    expect((await remove('account', access, proof)).status).toBe(500);
    expect((await login(email)).status).toBe(200);
    await pool.query('DROP TABLE orders');
    const { body } = await login(email);
    expect((await remove('account', body.access_token!, await proofOf(body.access_token!))).status).toBe(204);
    expect((await login(email)).status).toBe(422);
    expect(
      (await post('register', { name: 'Ada', email, password: PASSWORD, password_confirmation: PASSWORD })).status,
    ).toBe(200);
  });

  it('is refused with 503 while PostgreSQL is away, and works again afterwards', async () => {
    const { email, access } = await registered();
    proxy.down();
    try {
      expect((await login(email)).status).toBe(503);
      expect(await guarded(access)).toBe(503);
      expect(await app.get(AuthHealth).postgres()).toMatchObject({ auth_postgres: { status: 'down' } });
    } finally {
      proxy.heal();
    }
    expect((await login(email)).status).toBe(200);
    expect(await guarded(access)).toBe(200);
  });

  // The contract sends no requests, so the adapter has no effect on it.
  if (!fastify) {
    it('has a provider that keeps the contract', async () => {
      for (const { name, run } of userProviderContract({ app: () => app })) {
        const outcome = await run().catch((error: Error) => error.message);
        expect([name, outcome]).toEqual([name, expect.stringMatching(/^(kept|not implemented)$/)]);
      }
    });
  }

  it('ends all sessions of a user, also on a second application on the same pool', async () => {
    const { access, email } = await registered();
    const second = await startHost(PoolHost.on(pool), { fastify });
    const { rows } = await pool.query('SELECT id::text FROM customers WHERE email = $1', [email]);
    await second.get(Auth).revokeAll(rows[0].id);
    await second.close();
    expect(await guarded(access)).toBe(401);
    expect(pool.listenerCount('error')).toBe(1);
  });
});

describe('the migrations of the library on a pool', () => {
  it('run once, also if several processes begin at the same time', async () => {
    const database = await createEmptyDatabase();
    const pools = [1, 2, 3].map(() => new Pool({ connectionString: database.url, max: 2 }));
    const done = await Promise.all(pools.map((pool) => migrateAuth(pool)));
    expect(done.flat()).toEqual(MIGRATIONS);
    expect(await migrateAuth(pools[0]!)).toEqual([]);
    await Promise.all(pools.map((pool) => pool.end()));
    await database.drop();
  });

  it('leave nothing behind if one of them fails', async () => {
    const database = await createEmptyDatabase();
    const pool = new Pool({ connectionString: database.url, max: 2 });
    await pool.query('CREATE TABLE svc_passkeys (id int)');
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    await expect(migrateAuth(pool)).rejects.toThrow('relation "svc_passkeys" already exists');
    expect(logged.mock.calls.flat().join()).toContain('CreateSvcPasskeys1764000000000');
    logged.mockRestore();
    expect((await pool.query("SELECT to_regclass('svc_sessions') AS found")).rows).toEqual([{ found: null }]);
    await pool.query('DROP TABLE svc_passkeys');
    expect(await migrateAuth(pool)).toEqual(MIGRATIONS);
    await pool.end();
    await database.drop();
  });
});

describe('the option pool', () => {
  it('is refused if it is no pool of node-postgres, or beside dataSource', async () => {
    for (const pool of [{}, { query: () => undefined }, 'postgres://localhost'])
      await expect(startHost(PoolHost.on(pool as never))).rejects.toThrow(
        /^The option pool is not a pool of node-postgres\. Set it to new Pool\(\{ connectionString \}\)/,
      );
    const pool = new Pool();
    expect(() => PoolHost.on(pool, { dataSource: 'auth' })).toThrow(/^The options pool and dataSource name two places/);
  });

  it('also takes users that are an entity of TypeORM', async () => {
    const database = await createDatabase();
    const pool = new Pool({ connectionString: database.url });
    const app = await startHost(PoolHost.on(pool, { users: { entity: Person } }));
    const hash = await app.get(PasswordHasher).hash(PASSWORD);
    await pool.query("INSERT INTO people (email, password_hash) VALUES ('ada@example.com', $1)", [hash]);
    const { status, body } = await send(`${await app.getUrl()}/auth/login`, 'POST', {
      email: 'ada@example.com',
      password: PASSWORD,
    });
    expect(status).toBe(200);
    expect((await send(`${await app.getUrl()}/private`, 'GET', undefined, body.access_token)).status).toBe(200);
    await app.close();
    await pool.end();
    await database.drop();
  });

  it('is not ended by a start that fails after the pool is connected', async () => {
    const database = await createEmptyDatabase();
    const pool = new Pool({ connectionString: database.url });
    class WithoutColumns {}
    Entity()(WithoutColumns);
    const users = { entity: WithoutColumns };
    await expect(startHost(PoolHost.on(pool, { users }))).rejects.toThrow(/primary column/);
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await pool.end();
    await database.drop();
  });

  it('is tried again while PostgreSQL is not reached at the start', async () => {
    const database = await createEmptyDatabase();
    const proxy = await TcpProxy.to(await freePort());
    const pool = new Pool({ connectionString: proxy.through(database.url) });
    const logged = jest.spyOn(Logger.prototype, 'error');
    const starting = startHost(PoolHost.on(pool)).catch((error: Error) => error.message);
    const isLogged = (text: unknown): boolean => /^PostgreSQL was not reached \(.+\)/.test(String(text));
    await eventually(async () => logged.mock.calls.some(([text]) => isLogged(text)));
    proxy.target = Number(new URL(database.url).port);
    expect(await starting).toMatch(/^The database has not all tables and columns.*svc:migrate/);
    await pool.end();
    await proxy.close();
    await database.drop();
  });
});

describe('a host without the package @nestjs/typeorm', () => {
  const script = `
    const Module = require('node:module');
    const resolve = Module._resolveFilename;
    Module._resolveFilename = (name, ...others) => {
      if (name === '@nestjs/typeorm') throw Object.assign(new Error('Cannot find module'), { code: 'MODULE_NOT_FOUND' });
      return resolve(name, ...others);
    };
    const { AuthModule } = require('@svc/auth');
    const attempt = (options) => {
      try { return AuthModule.forRoot(options) && 'declared'; } catch (error) { return error.message; }
    };
    const pool = { options: {}, connect() {}, on() {}, off() {} };
    const users = { provider: class {} };
    console.log(JSON.stringify([attempt({ users }), attempt({ users, pool }), attempt({ users, verifyOnly: true })]));`;

  it('declares the module with a pool, or to verify only, and otherwise gets the cure', () => {
    const register = join(ROOT, 'test/support/runtime/register-ts.cjs');
    const { stdout } = spawnSync(process.execPath, ['--require', register, '-e', script], { encoding: 'utf8' });
    expect(JSON.parse(stdout)).toEqual([
      expect.stringMatching(/npm install @nestjs\/typeorm typeorm pg\. Without TypeORM, set the option pool/),
      'declared',
      'declared',
    ]);
  });

  it('is imported by no file of the library, so that its types are not needed either', () => {
    const folder = join(ROOT, 'libs/auth/src');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /(?<!spec)\.ts$/.test(file),
    );
    expect(files.length).toBeGreaterThan(200);
    const imports = files.filter((file) =>
      /^import.* from '@nestjs\/typeorm'/m.test(readFileSync(join(folder, file), 'utf8')),
    );
    expect(imports).toEqual([]);
  });
});
