import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../apps/sample/src/dev/embedded-postgres';
import { createTemplate } from '../support/stores/database';
import { buildClientOfPage } from '../support/clients/page-client';
import { RedisServer, redisBinary } from '../support/stores/redis';

declare global {
  var startedAt: number;
  var stores: { directory?: string; postgres?: EmbeddedPostgres; redis?: RedisServer };
}

/** Builds the client of the sample's page, and starts the stores that the tests run on, or uses those of `DATABASE_URL` and `REDIS_URL`. */
export default async function globalSetup(): Promise<void> {
  globalThis.stores = {};
  globalThis.startedAt = performance.now();
  buildClientOfPage();
  process.env.TEST_DATABASE_URL = process.env.DATABASE_URL || (await startPostgres());
  const redisUrl = process.env.REDIS_URL || (redisBinary && (await startRedis()));
  if (redisUrl) process.env.TEST_REDIS_URL = redisUrl;
  // The tests must not read the configuration of the caller.
  for (const name of Object.keys(process.env))
    if (/^(SVC_|DATABASE_URL$|REDIS_URL$)/.test(name)) delete process.env[name];
  await createTemplate();
}

async function startPostgres(): Promise<string> {
  const settings = {
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    max_connections: '300',
    // Otherwise plans would depend on when the server analyzes a table.
    autovacuum: 'off',
  };
  const directory = mkdtempSync(join(tmpdir(), 'svc-test-'));
  // If root runs the tests, the server runs as another user and needs access to the directory.
  chmodSync(directory, 0o711);
  globalThis.stores.directory = directory;
  globalThis.stores.postgres = await startEmbeddedPostgres(join(directory, 'data'), settings);
  return globalThis.stores.postgres.url;
}

async function startRedis(): Promise<string> {
  globalThis.stores.redis = await RedisServer.start();
  return globalThis.stores.redis.url;
}
