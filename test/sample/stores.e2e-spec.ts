import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../apps/sample/src/dev/embedded-postgres';
import { readEnvironment } from '../../apps/sample/src/environment';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { waitForStores } from '../../apps/sample/src/stores';
import { eventually } from '../support/runtime/eventually';
import { PostgresServer } from '../support/stores/postgres';
import { RedisServer } from '../support/stores/redis';
import { SampleProcess } from '../support/sample/sample';
import { describeWithOwnRedis } from '../support/stores/with-redis';

/** Blocks the event loop, as a busy machine does. */
const block = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

describeWithOwnRedis('the sample, at a start', () => {
  const hba = join(mkdtempSync(join(tmpdir(), 'svc-hba-')), 'pg_hba.conf');
  let postgres: PostgresServer;
  let redis: RedisServer;

  beforeAll(async () => {
    // The user of the embedded PostgreSQL has no password, so each one is wrong.
    writeFileSync(hba, 'host locked all 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n');
    chmodSync(join(hba, '..'), 0o755);
    [postgres, redis] = await Promise.all([
      PostgresServer.start({ hba_file: hba }),
      RedisServer.start('--requirepass', 'right'),
    ]);
  });
  afterAll(async () => {
    await Promise.all([postgres.remove(), redis.stop()]);
    rmSync(join(hba, '..'), { recursive: true });
  });

  /** The URL of an empty database. */
  const database = (name = 'template1'): string => Object.assign(new URL(postgres.url), { pathname: name }).toString();
  const redisUrl = (password = 'right'): string => redis.url.replace('//', `//:${password}@`);

  /** What the wait of a start writes that ends with an error, which the start writes last. */
  async function refusal(env: Record<string, string>): Promise<string> {
    const lines: string[] = [];
    const write = (message: string): void => void lines.push(message);
    const environment = readEnvironment(
      { PUBLIC_URL: 'https://orders.example.com', NODE_ENV: 'production', ...env },
      [],
    );
    const logger = { log: write, warn: write, error: write };
    await waitForStores({ ...environment, logger }).then(
      () => write('The stores are there.'),
      ({ message }: Error) => write(message),
    );
    return lines.join('\n');
  }

  it('names the store that it waits for, and starts when all of them are there', async () => {
    await Promise.all([postgres.stop(), redis.stop()]);
    const sample = await SampleProcess.launch({ DATABASE_URL: database(), REDIS_URL: redisUrl() });
    const { port } = new URL(postgres.url);
    await eventually(async () => sample.log.includes(`Waiting for PostgreSQL at 127.0.0.1:${port}: `));
    expect(sample.log).not.toContain('Waiting for Redis');

    await postgres.startAgain();
    const missing = `Waiting for Redis at 127.0.0.1:${redis.port}: connect ECONNREFUSED 127.0.0.1:${redis.port}`;
    await eventually(async () => sample.log.includes(missing));
    expect(await sample.status('/health')).toBe(0);

    await redis.start();
    await sample.ready();
    expect((await sample.login('demo@example.com')).status).toBe(200);
    expect(sample.log.split(missing)).toHaveLength(2);
    expect(sample.log).not.toContain('right');
    await sample.stop();
  });

  it('ends with the store, the reason and the setting when a store is not there in time', async () => {
    const port = await freePort();
    const url = `postgres://operator:hidden@127.0.0.1:${port}/orders`;
    const sample = await SampleProcess.launch({ DATABASE_URL: url, STORES_TIMEOUT: '2' });
    await expect(sample.ready()).rejects.toThrow('the sample exited');
    expect(await sample.stop()).toBe(1);
    const { log } = sample;
    const reason = `connect ECONNREFUSED 127.0.0.1:${port}`;
    expect(log).toContain(`Waiting for PostgreSQL at 127.0.0.1:${port}: ${reason}`);
    expect(log).toContain(`PostgreSQL at 127.0.0.1:${port} was not available within 2 s (STORES_TIMEOUT): ${reason}`);
    expect(log).not.toMatch(/operator|hidden/);
  });

  it('asks each store once with a time of 0', async () => {
    const url = `redis://127.0.0.1:${await freePort()}`;
    const log = await refusal({ DATABASE_URL: database(), REDIS_URL: url, STORES_TIMEOUT: '0' });
    expect(log).toMatch(
      /Redis at 127\.0\.0\.1:\d+ was not available within 0 s \(STORES_TIMEOUT\): connect ECONNREFUSED/,
    );
    expect(log).not.toContain('Waiting');
  });

  it('ends also if a store accepts connections and does not answer', async () => {
    redis.freeze();
    const log = await refusal({ DATABASE_URL: database(), REDIS_URL: redisUrl(), STORES_TIMEOUT: '1' });
    redis.thaw();
    expect(log).toContain(`Redis at 127.0.0.1:${redis.port} was not available within 1 s (STORES_TIMEOUT): no answer`);

    postgres.proxy.hang();
    const other = await refusal({ DATABASE_URL: database(), STORES_TIMEOUT: '1' });
    postgres.proxy.heal();
    expect(other).toMatch(/PostgreSQL at [\d.:]+ was not available within 1 s \(STORES_TIMEOUT\): timeout expired/);
  });

  it.each<[string, () => Record<string, string>, string]>([
    [
      'a wrong password of PostgreSQL',
      () => ({ DATABASE_URL: database('locked').replace('auth@', 'auth:wrong@') }),
      'refuses the connection: password authentication failed',
    ],
    [
      'a missing password of PostgreSQL',
      () => ({ DATABASE_URL: database('locked') }),
      'refuses the connection: SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string',
    ],
    [
      'an unknown database',
      () => ({ DATABASE_URL: database('nowhere') }),
      'refuses the connection: database "nowhere" does not exist',
    ],
    [
      'a wrong password of Redis',
      () => ({ DATABASE_URL: database(), REDIS_URL: redisUrl('wrong') }),
      'refuses the connection: WRONGPASS',
    ],
    [
      'a missing password of Redis',
      () => ({ DATABASE_URL: database(), REDIS_URL: redis.url }),
      'refuses the connection: NOAUTH',
    ],
  ])('ends at once with %s', async (_, env, reason) => {
    const log = await refusal({ ...env(), STORES_TIMEOUT: '100000' });
    expect(log).toContain(reason);
    expect(log).not.toMatch(/Waiting|wrong/);
  });

  it('repeats a connection to Redis that a busy machine made slow', async () => {
    const opening = redisCache(redisUrl());
    block(5500);
    const { client } = await opening;
    expect(await client.ping()).toBe('PONG');
    await client.disconnect();
  });
});

describe('the sample on a busy port', () => {
  // The other refusals run in the process of the host.
  it('ends with one line that has the correction, before it starts a database', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-data-'));
    const other = createServer();
    await once(other.listen(0), 'listening');
    const { port } = other.address() as AddressInfo;
    const refused = await SampleProcess.launch({ NODE_ENV: 'development', DATA_DIR: dataDir, PORT: String(port) });
    await expect(refused.ready()).rejects.toThrow('the sample exited');
    expect(await refused.stop()).toBe(1);
    const lines = refused.log.trim().split('\n');
    expect(lines).toEqual([
      expect.stringContaining(`Port ${port} is in use. Choose another one: PORT=${port + 1} npm start`),
    ]);
    expect(readdirSync(dataDir).toSorted()).toEqual(['encryption-key', 'secret']);
    other.close();
    rmSync(dataDir, { recursive: true });
  });
});
