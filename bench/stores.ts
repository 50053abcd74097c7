import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hash } from 'argon2';
import { startEmbeddedPostgres } from '../apps/sample/src/dev/embedded-postgres';
import { HASHING } from '../libs/auth/src/identity/password/password.options';
import { createDatabase, createTemplate, dataSourceOf } from '../test/support/stores/database';
import { RedisServer, redisBinary } from '../test/support/stores/redis';
import { CREATE_TOKENS } from './apps/hand-rolled.entities';
import { CHEAPEST, PEOPLE } from './apps/serve';
import type { Cleanup } from './cleanup';

/** The stores of one benchmark. */
export interface Stores {
  databaseUrl: string;
  redisUrl: string;
  /** The parent process of all PostgreSQL processes. */
  postmaster: number;
  /** The version of the PostgreSQL server. */
  version: string;
}

/** The credentials of user `n`. */
export const personOf = (n: number) => ({ email: `person-${n}@example.com`, password: 'correct-horse-battery' });

/** The first user. */
export const ADA = personOf(1);

const { memoryCost, timeCost, parallelism } = HASHING;

/** A digest at the library's default cost. */
export const digestOf = (password: string): Promise<string> =>
  hash(password, {
    memoryCost: memoryCost.default,
    timeCost: timeCost.default,
    parallelism: parallelism.default,
  });

// The benchmark measures the work of the applications. Waits for the disk would hide it.
const SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '250' };

/**
 * Starts a PostgreSQL and a Redis for the benchmark, fills them, and registers their cleanup.
 *
 * @param settings of the PostgreSQL server. By default it does not wait for the disk.
 */
export async function startStores(cleanup: Cleanup, settings: Record<string, string> = SETTINGS): Promise<Stores> {
  if (!redisBinary) throw new Error('No redis-server found. Install one: the benchmark measures the real store.');
  const directory = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  // If root runs the benchmark, the server runs as another user and needs access to the directory.
  chmodSync(directory, 0o711);
  cleanup.add(() => rmSync(directory, { recursive: true, force: true }));

  const postgres = await startEmbeddedPostgres(join(directory, 'data'), settings);
  cleanup.add(() => postgres.stop());
  const redis = await RedisServer.start();
  cleanup.add(() => redis.stop());

  process.env.TEST_DATABASE_URL = postgres.url;
  await createTemplate();
  const { url } = await createDatabase();
  return { databaseUrl: url, redisUrl: redis.url, ...(await fill(url)) };
}

/** Gives all users a hash of the lowest cost. */
export async function hashCheaply({ databaseUrl }: Stores): Promise<void> {
  const source = await dataSourceOf(databaseUrl).initialize();
  await source.query('UPDATE people SET password_hash = $1', [await hash(ADA.password, CHEAPEST)]);
  await source.destroy();
}

async function fill(url: string): Promise<Pick<Stores, 'postmaster' | 'version'>> {
  const source = await dataSourceOf(url).initialize();
  await source.query(
    `INSERT INTO people (email, password_hash)
     SELECT 'person-' || n || '@example.com', $1 FROM generate_series(1, ${PEOPLE}) n`,
    [await digestOf(ADA.password)],
  );
  await source.query(CREATE_TOKENS);
  await source.query('ANALYZE');
  const [about] = await source.query<[{ postmaster: number; version: string }]>(
    `SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int AS postmaster,
            split_part(current_setting('server_version'), ' ', 1) AS version`,
  );
  await source.destroy();
  return about;
}
