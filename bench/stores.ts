import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hash } from 'argon2';
import { startEmbeddedPostgres } from '../apps/sample/src/embedded-postgres';
import { createDatabase, createTemplate, dataSourceOf } from '../test/support/database';
import { RedisServer, redisBinary } from '../test/support/redis';
import { CREATE_TOKENS } from './apps/hand-rolled.entities';
import type { Cleanup } from './cleanup';

/** The stores of one benchmark. */
export interface Stores {
  databaseUrl: string;
  redisUrl: string;
}

/** The one user with a password. */
export const ADA = { email: 'person-1@example.com', password: 'correct-horse-battery' };

const PEOPLE = 1000;
// What is measured is the work of the applications; waiting for the disk would hide it.
const SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '100' };

/**
 * Starts a PostgreSQL and a Redis of the benchmark's own and fills them. Registers how they stop.
 *
 * @param settings of the PostgreSQL server; by default it never waits for the disk
 */
export async function startStores(cleanup: Cleanup, settings: Record<string, string> = SETTINGS): Promise<Stores> {
  if (!redisBinary) throw new Error('No redis-server found. Install one: the benchmark measures the real store.');
  const directory = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  // Under root the server runs as another user, who must be able to enter.
  chmodSync(directory, 0o711);
  cleanup.add(() => rmSync(directory, { recursive: true, force: true }));

  const postgres = await startEmbeddedPostgres(join(directory, 'data'), settings);
  cleanup.add(() => postgres.stop());
  const redis = await RedisServer.start();
  cleanup.add(() => redis.stop());

  process.env.TEST_DATABASE_URL = postgres.url;
  await createTemplate();
  const { url } = await createDatabase();
  await fill(url);
  return { databaseUrl: url, redisUrl: redis.url };
}

async function fill(url: string): Promise<void> {
  const source = await dataSourceOf(url).initialize();
  await source.query(
    `INSERT INTO people (email) SELECT 'person-' || n || '@example.com' FROM generate_series(1, ${PEOPLE}) n`,
  );
  const digest = await hash(ADA.password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  await source.query('UPDATE people SET password_hash = $1 WHERE email = $2', [digest, ADA.email]);
  await source.query(CREATE_TOKENS);
  await source.query('ANALYZE');
  await source.destroy();
}

// What clients say for themselves, and this file's own question.
const NOT_OF_REQUESTS = /^cmdstat_(info|quit|ping|hello|auth|client|select|command)/;

/** Commands the Redis server has answered for requests, by its own count. */
export function redisCommands(redisUrl: string): Promise<number> {
  const { port, hostname } = new URL(redisUrl);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write('INFO commandstats\r\nQUIT\r\n'));
    socket.setTimeout(2000, () => socket.destroy(new Error('Redis did not answer'))).setEncoding('utf8');
    socket.on('data', (chunk: string) => (answer += chunk)).on('error', reject);
    socket.on('end', () => {
      const lines = answer.split('\r\n').filter((line) => line.startsWith('cmdstat_') && !NOT_OF_REQUESTS.test(line));
      resolve(lines.reduce((sum, line) => sum + Number(/calls=(\d+)/.exec(line)?.[1]), 0));
    });
  });
}
