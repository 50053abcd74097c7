// Measures refreshes while a million expired rows are pruned.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Pruned } from '@svc/auth';
import { dataSourceOf } from '../test/support/stores/database';
import { Cleanup } from './cleanup';
import { refresh } from './groups/group';
import { type LoadOptions, type Load, type Sample, sample } from './load';
import { Server } from './server';
import { readSettings, readSizes } from './settings';
import { median } from './statistics';
import { type Stores, startStores } from './stores';

const SESSIONS = 950_000;
/** One lockout counter for this many sessions. */
const COUNTER_EACH = 19;

async function main(cleanup: Cleanup): Promise<void> {
  // Well below saturation: under full load, latency only measures the length of the queue.
  const { seconds } = readSettings();
  cleanup.deadline(1200);
  // Pruning writes: the server waits for its disk, as in production.
  const stores = await startStores(cleanup, { max_connections: '100' });
  await fill(stores, Math.max(...readSizes(SESSIONS)));
  const server = await Server.start('ours', stores, cleanup);
  const load = refresh('ours', server, '', '/auth/refresh');
  const around = { connections: Number(process.env.BENCH_CONNECTIONS || 4), stores };
  const samples = (continues: (taken: number) => boolean) => samplesOf(load, seconds, around, continues);

  await samples((taken) => taken < 3);
  const before = await samples((taken) => taken < 10);
  const sweep = startSweep(stores, cleanup);
  let running = true;
  const pruned = sweep.then((result) => {
    running = false;
    return result;
  });
  const during = await samples(() => running);
  const result = await pruned;
  const after = await samples((taken) => taken < 5);
  // The sweep ended during the last one.
  const whole = during.length > 1 ? during.slice(0, -1) : during;
  process.stdout.write(`${report({ before, during: whole, after }, result)}\n`);
}

async function samplesOf(
  load: Load,
  seconds: number,
  around: LoadOptions,
  continues: (taken: number) => boolean,
): Promise<Sample[]> {
  const taken: Sample[] = [];
  while (continues(taken.length)) taken.push(await sample(load, seconds, around));
  return taken;
}

type Result = Pruned & { seconds: number };

async function startSweep({ databaseUrl, redisUrl }: Stores, cleanup: Cleanup): Promise<Result> {
  const register = join(__dirname, '../test/support/runtime/register-ts.cjs');
  const child = spawn(process.execPath, ['--require', register, join(__dirname, 'apps/ours.ts')], {
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      BENCH_PRUNE: '1',
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  cleanup.add(() => child.kill('SIGKILL'));
  const [result] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the sweep ended with ${code}`))),
  ])) as [Result];
  return result;
}

async function fill({ databaseUrl }: Stores, sessions: number): Promise<void> {
  const source = await dataSourceOf(databaseUrl).initialize();
  await source.query(`
    INSERT INTO svc_sessions (id, guard, user_id, salt, auth_time, generation, expires_at, last_used_at, created_at)
    SELECT gen_random_uuid(), 'api', 'former-' || n % 1000, sha256(n::text::bytea), began, 4, ended, ended, began
      FROM (SELECT n, now() - interval '1 day' - random() * interval '30 days' AS ended
              FROM generate_series(1, ${sessions}) n) s,
           LATERAL (SELECT ended - interval '30 days' AS began) b`);
  await source.query(`
    INSERT INTO svc_lockouts (id, purpose, subject, guard, attempts, created_at, updated_at)
    SELECT lpad(n::text, 26, '0'), 'login', 'idn:' || n, 'api', 1, now(), now() - interval '40 days'
      FROM generate_series(1, ${Math.floor(sessions / COUNTER_EACH)}) n`);
  await source.query('VACUUM ANALYZE');
  await source.destroy();
}

function report(phases: Record<string, Sample[]>, result: Result): string {
  const middle = (phase: string, field: 'p50' | 'p99' | 'perSecond'): number =>
    median(phases[phase]!.map((one) => one[field]!));
  const rows = Object.keys(phases).map((phase) => {
    const figures = [middle(phase, 'perSecond').toFixed(0), middle(phase, 'p50').toFixed(1)];
    return `| ${[phase, phases[phase]!.length, ...figures, middle(phase, 'p99').toFixed(1)].join(' | ')} |`;
  });
  const { sessions, lockoutCounters, seconds } = result;
  const swept = `${sessions} sessions and ${lockoutCounters} lockout counters`;
  return `| refreshes beside the sweep | samples | req/s | p50 ms | p99 ms |
| --- | ---: | ---: | ---: | ---: |
${rows.join('\n')}

Swept ${swept} in ${seconds.toFixed(0)} s. p99 during the sweep over p99 before it: ${(
    middle('during', 'p99') / middle('before', 'p99')
  ).toFixed(2)} (bar: at most 2).`;
}

const cleanup = new Cleanup();
main(cleanup)
  .catch((error: unknown) => cleanup.report(error))
  .finally(() => cleanup.run());
