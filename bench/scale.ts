// Measures what one session costs in tables of several sizes, and simulates sizes that this machine cannot hold.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { dataSourceOf } from '../test/support/stores/database';
import { RedisServer } from '../test/support/stores/redis';
import type { Work, Worked } from './scale/work';
import { Cleanup } from './cleanup';
import { Deployment } from './growth/deployment';
import { type Filled, OLDEST, fill } from './growth/fill';
import { openLoad } from './growth/open-load';
import { walPosition } from './growth/writes';
import { publish } from './page';
import { diskBytes, redisBytes, tombstoneBytes, walBytes } from './scale/bytes';
import { readAssumptions } from './scale/decades';
import { type AtSize, type Scale, report } from './scale/report';
import { messageOf } from './server';
import { readSizes } from './settings';
import { type Stores, startStores } from './stores';

const SIZES = '100000,1000000';
/** One session of this many belongs to the guard whose sessions are all ended. */
const APART_EACH = 15;
/** At most this many rows are pruned and written to the denylist. */
const MOST_ROWS = 50_000;
const TOKENS = 5000;
const CONNECTIONS = 8;
const PACE = { rate: 100, seconds: 4 };
/** Sessions of the guarded requests. */
const REFRESHED = 300;
const FILLED_A_SECOND = 5000;

async function main(cleanup: Cleanup): Promise<void> {
  const sizes = readSizes(0, { BENCH_SESSIONS: SIZES, ...process.env });
  const assumed = readAssumptions();
  cleanup.deadline(300 + sizes.reduce((sum, size) => sum + size, 0) / FILLED_A_SECOND);
  // It waits for its disk. Fewer checkpoints, so that a page does not wait for the one that the fill causes.
  const stores = await startStores(cleanup, { max_connections: '100', max_wal_size: '8GB' });
  const source = await dataSourceOf(stores.databaseUrl).initialize();
  const tombstone = await tombstoneBytes(source);
  await source.destroy();
  const redis = await redisBytes();
  const measured: AtSize[] = [];
  for (const sessions of sizes) measured.push(await atSize(sessions, stores, cleanup));
  const scale: Scale = { version: stores.version, sizes: measured as Scale['sizes'], tombstone, redis, assumed };
  await publish('scale', report(scale));
}

async function atSize(sessions: number, stores: Stores, cleanup: Cleanup): Promise<AtSize> {
  const start = performance.now();
  const said = (what: string): unknown =>
    process.stderr.write(`${sessions}: ${what} after ${((performance.now() - start) / 1000).toFixed(0)} s\n`);
  const filled = await fill(sessions, TOKENS, { sizes: [], repetitions: 0 }, APART_EACH);
  const redis = await RedisServer.start();
  cleanup.add(() => redis.stop());
  const own = { ...stores, databaseUrl: filled.url, redisUrl: redis.url };
  const disk = await prepared(filled);
  said('filled');
  const worker = await Worker.start(own, cleanup);
  await redis.flush();
  const rebuild = await worker.work('rebuild');
  said('rebuilt');
  const prune = await worker.work('prune');
  said('pruned');
  const side = await Deployment.start(filled, own, CONNECTIONS, cleanup);
  const wal = await walBytes(side);
  said('requests');
  for (let i = 0; i < REFRESHED; i++) await side.refresh();
  const load = (seconds: number) => openLoad(side.server, { ...PACE, seconds }, side.stores, side.guarded);
  await load(1);
  const { latencies: alone } = await load(PACE.seconds);
  const source = await dataSourceOf(filled.url).initialize();
  await source.query('CHECKPOINT');
  const before = await walPosition(source);
  // The rounds end with the work: a small table has few pages.
  const run = { isOver: false };
  const revoking = worker.work('revoke').finally(() => (run.isOver = true));
  const beside: number[] = [];
  while (!run.isOver) beside.push(...(await load(1)).latencies);
  const revoke = await revoking;
  const revokedWal = ((await walPosition(source)) - before) / revoke.rows;
  await source.destroy();
  said('revoked');
  await worker.stop();
  await side.server.stop();
  return { sessions, disk, wal, work: { rebuild, prune, revoke }, revokedWal, guarded: { alone, beside } };
}

/** Measures the table, and lets the oldest sessions expire and some others end within the last ten minutes. */
async function prepared({ url, sessions }: Filled): Promise<AtSize['disk']> {
  const source = await dataSourceOf(url).initialize();
  const disk = await diskBytes(source);
  const rows = Math.min(MOST_ROWS, Math.floor(sessions / OLDEST));
  const runner = source.createQueryRunner();
  await runner.query('SET synchronous_commit = off');
  const numbered = (each: number): string =>
    `SELECT md5('session-' || (n * ${each}))::uuid FROM generate_series(1, ${rows}) n`;
  await runner.query(`
    UPDATE svc_sessions SET expires_at = now() - interval '1 day', last_used_at = now() - interval '2 days'
     WHERE id = ANY(ARRAY(${numbered(1)}))`);
  await runner.query(`
    UPDATE svc_sessions SET revoked_at = now() - random() * interval '10 minutes'
     WHERE revoked_at IS NOT NULL AND expires_at > now() AND id = ANY(ARRAY(${numbered(10)}))`);
  await runner.release();
  await source.query('VACUUM (ANALYZE) svc_sessions');
  await source.query('CHECKPOINT');
  await source.destroy();
  return disk;
}

/** A process of the library that prunes, rebuilds and revokes. */
class Worker {
  private constructor(private readonly child: ChildProcess) {}

  static async start({ databaseUrl, redisUrl }: Stores, cleanup: Cleanup): Promise<Worker> {
    const register = join(__dirname, '../test/support/runtime/register-ts.cjs');
    const child = spawn(process.execPath, ['--require', register, join(__dirname, 'apps/at-scale.ts')], {
      env: { PATH: process.env.PATH, NODE_ENV: 'production', DATABASE_URL: databaseUrl, REDIS_URL: redisUrl },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    cleanup.add(() => child.kill('SIGKILL'));
    await messageOf(child, 'the worker');
    return new Worker(child);
  }

  async work(what: Work): Promise<Worked> {
    this.child.send(what);
    const [worked] = (await Promise.race([
      once(this.child, 'message'),
      once(this.child, 'exit').then(([code]) => Promise.reject(new Error(`the worker ended with ${code}`))),
    ])) as [Worked];
    return worked;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.disconnect();
    await ended;
  }
}

const cleanup = new Cleanup();
main(cleanup)
  .catch((error: unknown) => cleanup.report(error))
  .finally(() => cleanup.run());
