import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createClient } from '@redis/client';
import type { AuthModuleOptions } from '@svc/auth';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { TestApp } from '../support/hosts/app';
import { createDatabase, createEmptyDatabase } from '../support/stores/database';
import { eventually } from '../support/runtime/eventually';
import { HostModule, SECRET } from '../support/hosts/host.module';
import { RedisServer } from '../support/stores/redis';
import { describeWithOwnRedis } from '../support/stores/with-redis';

const ADA = 'ada@example.com';
const PASSWORD = 'hidden-password';

/** Starts a host without its own client, and closes it. */
async function start(databaseUrl: string, options: Partial<AuthModuleOptions>): Promise<void> {
  const production = { issuer: 'https://api.acme.test', audience: 'https://api.acme.test' };
  const host = HostModule.with(databaseUrl, { ...production, ...options });
  const app = await NestFactory.create(host, { logger: false, abortOnError: false });
  await app.init().finally(() => app.close());
}

/** Runs a command with a client of its own, which is closed before it returns. */
async function command(redis: RedisServer, ...words: string[]): Promise<string> {
  const client = createClient({ url: redis.url, password: PASSWORD });
  await client.connect();
  try {
    return String(await client.sendCommand(words));
  } finally {
    await client.disconnect();
  }
}

const keysOf = async (redis: RedisServer): Promise<string[]> => (await command(redis, 'KEYS', 'svc:*')).split(',');

/** The number of clients, besides the one that asks. */
const connectionsOf = async (redis: RedisServer): Promise<number> =>
  (await command(redis, 'CLIENT', 'LIST')).trim().split('\n').length - 1;

/** The log lines of one test. */
const lines: string[] = [];

beforeEach(() => {
  lines.length = 0;
  for (const level of ['log', 'warn', 'error'] as const) {
    jest.spyOn(Logger.prototype, level).mockImplementation((...texts) => void lines.push(texts.map(String).join(' ')));
  }
});

describeWithOwnRedis('the Redis of redis.url', () => {
  let redis: RedisServer;
  let t: TestApp;

  beforeEach(async () => {
    redis = await RedisServer.start('--requirepass', PASSWORD);
    const url = redis.url.replace('//', `//default:${PASSWORD}@`);
    t = await TestApp.start({ options: { cache: undefined, redis: { url } } });
    await t.person(ADA);
  });
  afterEach(async () => {
    await t.stop();
    await redis.stop();
  });

  it('has the denials, the limits and the keys of the application', async () => {
    const { access_token } = await t.session(ADA);
    await t.call('post', '/auth/logout', access_token).expect(204);
    await t.get('/private', access_token).expect(401);
    expect(await keysOf(redis)).toEqual(expect.arrayContaining([expect.stringMatching(/^svc:dl:fid:/)]));
  });

  it('is 503 while it is away, is used again when it is back, and leaves no password in the log', async () => {
    const { access_token } = await t.session(ADA);
    await t.get('/private', access_token).expect(200);
    await redis.stop();
    await eventually(async () => (await t.get('/private', access_token)).status === 503);
    await t.login(ADA).expect(503);
    await redis.start();
    await eventually(async () => (await t.get('/private', access_token)).status === 200);
    expect(lines.join('\n')).toMatch(/Redis: /);
    expect(lines.join('\n')).not.toContain(PASSWORD);
  });

  it('is left by the application when it shuts down', async () => {
    const before = await connectionsOf(redis);
    await t.app.close();
    await eventually(async () => (await connectionsOf(redis)) === before - 1);
  });

  it('is left by an application that cannot start', async () => {
    process.env.NODE_ENV = 'production';
    const database = await createDatabase();
    try {
      await command(redis, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
      const before = await connectionsOf(redis);
      const url = redis.url.replace('//', `//:${PASSWORD}@`);
      await expect(start(database.url, { redis: { url } })).rejects.toThrow(/maxmemory-policy of Redis is allkeys-lru/);
      await eventually(async () => (await connectionsOf(redis)) === before);
    } finally {
      process.env.NODE_ENV = 'test';
      await database.drop();
    }
  });

  it('is left by an application without its tables, which does not start', async () => {
    const database = await createEmptyDatabase();
    const before = await connectionsOf(redis);
    const url = redis.url.replace('//', `//:${PASSWORD}@`);
    const host = HostModule.with(database.url, { cache: undefined, redis: { url } });
    const app = await NestFactory.create(host, { logger: false, abortOnError: false });
    await expect(app.init()).rejects.toThrow(/the table svc_sessions/);
    await eventually(async () => (await connectionsOf(redis)) === before);
    await app.close();
    await database.drop();
  });

  it('is left by a process whose start another provider refuses: it ends by itself', async () => {
    const code = `
      const { NestFactory } = require('@nestjs/core');
      const { Auth, AuthModule, UserProvider } = require('@svc/auth');
      class Users extends UserProvider { findById() {} findByIdentifier() {} idOf() {} }
      const auth = AuthModule.forRoot({
        verifyOnly: true, secret: '${SECRET}', users: { provider: Users }, redis: { url: process.env.REDIS },
      });
      const refusing = { provide: 'refusing', inject: [Auth], useFactory: () => { throw new Error('refused'); } };
      const module = { module: class App {}, imports: [auth], providers: [refusing] };
      NestFactory.createApplicationContext(module, { logger: false, abortOnError: false }).catch((e) => console.log(e.message));`;
    const loader = join(__dirname, '../support/runtime/register-ts.cjs');
    const child = spawn(process.execPath, ['--require', loader, '--eval', code], {
      timeout: 240_000,
      env: { ...process.env, REDIS: redis.url.replace('//', `//:${PASSWORD}@`) },
    });
    const [stdout, stderr, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    expect({ stdout, stderr, status }).toEqual({ stdout: 'refused\n', stderr: '', status: 0 });
  });

  it('refuses a wrong password at boot, with the error of Redis and without the password', async () => {
    const database = await createDatabase();
    const url = redis.url.replace('//', '//default:wrong-password@');
    const error = await start(database.url, { redis: { url } }).catch((e: Error) => e);
    await database.drop();
    expect(String(error)).toMatch(
      /Redis at 127\.0\.0\.1:\d+ \(redis\.url\) could not be connected within 5 seconds \(WRONGPASS/,
    );
    expect(String(error)).not.toContain('wrong-password');
  });
});
