// Measures what the library adds to an application: memory and start time.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataSourceOf } from '../test/support/database';
import { Cleanup } from './cleanup';
import { build } from './footprint/build';
import type { Memory, Started } from './footprint/host';
import { type FootprintSample, VARIANTS, type Variant, report } from './footprint/report';
import { Client } from './growth/client';
import { publish } from './page';
import { flagsOf, messageOf } from './server';
import { readSettings } from './settings';
import { type Stores, startStores } from './stores';

const REQUESTS = 1000;
const CONNECTIONS = 10;
const MB = 1e6;

async function main(cleanup: Cleanup): Promise<void> {
  const { rounds } = readSettings({ BENCH_ROUNDS: '7', ...process.env });
  cleanup.deadline(300 + 60 * rounds);
  const folder = mkdtempSync(join(tmpdir(), 'svc-footprint-'));
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
  const file = build(folder);
  const stores = await startStores(cleanup);
  const member = await addMember(stores);
  const start = (variant: Variant) => print(file, variant, stores, member, cleanup);

  // Fills the file cache of the system before the first measured start.
  for (const variant of VARIANTS) await start(variant);
  const prints: Record<Variant, FootprintSample[]> = { without: [], default: [], all: [] };
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
    for (const variant of round % 2 ? VARIANTS.toReversed() : VARIANTS) prints[variant].push(await start(variant));
  }
  await publish('footprint', report(prints, REQUESTS));
}

async function addMember({ databaseUrl }: Stores): Promise<string> {
  const source = await dataSourceOf(databaseUrl).initialize();
  const [{ id }] = await source.query(`INSERT INTO members (name, email) VALUES ('Ada', $1) RETURNING id`, [
    'ada@example.com',
  ]);
  await source.destroy();
  return id;
}

async function print(
  file: string,
  variant: Variant,
  { databaseUrl, redisUrl }: Stores,
  member: string,
  cleanup: Cleanup,
): Promise<FootprintSample> {
  const child = fork(file, {
    execArgv: ['--expose-gc', ...flagsOf(variant)],
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      VARIANT: variant,
      MEMBER: member,
      // As long as a real access token.
      TOKEN_LIKE: 'x'.repeat(400),
    },
  });
  cleanup.add(() => child.kill('SIGKILL'));
  const started = await messageOf<Started>(child, variant);
  const client = new Client(`http://127.0.0.1:${started.port}`, CONNECTIONS);
  const requests = Array.from({ length: CONNECTIONS }, async () => {
    for (let i = 0; i < REQUESTS / CONNECTIONS; i++)
      await client.expect(200, 'GET', '/guarded', { token: started.token });
  });
  await Promise.all(requests);
  client.close();
  child.send('memory');
  const later = await messageOf<Memory>(child, variant);
  const ended = once(child, 'exit');
  child.disconnect();
  await ended;
  const [rss, heap] = [started.rss / MB, started.heapUsed / MB];
  const { startMs, cpuMs } = started;
  return { startMs, cpuMs, rss, heap, rssLater: later.rss / MB, heapLater: later.heapUsed / MB };
}

const cleanup = new Cleanup();
main(cleanup)
  .catch((error: unknown) => cleanup.report(error))
  .finally(() => cleanup.run());
