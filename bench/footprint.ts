// Measures what the library adds to an application: memory and start time.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataSourceOf } from '../test/support/stores/database';
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
  const built = build(folder);
  const stores = await startStores(cleanup);
  const member = await addMember(stores);
  const hosts = new Hosts(built.file, stores, member, cleanup);
  const start = async (variant: Variant): Promise<FootprintSample> => {
    const { token, ...sample } = await hosts.sampled(variant);
    return { ...sample, coldMs: await hosts.coldStart(variant, token) };
  };

  // Fills the file cache of the system before the first measured start.
  for (const variant of VARIANTS) await start(variant);
  const prints: Record<Variant, FootprintSample[]> = { without: [], default: [], all: [] };
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
    for (const variant of round % 2 ? VARIANTS.toReversed() : VARIANTS) prints[variant].push(await start(variant));
  }
  await publish('footprint', report(prints, REQUESTS, built));
}

async function addMember({ databaseUrl }: Stores): Promise<string> {
  const source = await dataSourceOf(databaseUrl).initialize();
  const [{ id }] = await source.query(`INSERT INTO members (name, email) VALUES ('Ada', $1) RETURNING id`, [
    'ada@example.com',
  ]);
  await source.destroy();
  return id;
}

/** Starts the host in new processes. */
class Hosts {
  constructor(
    private readonly file: string,
    private readonly stores: Stores,
    private readonly member: string,
    private readonly cleanup: Cleanup,
  ) {}

  /** Milliseconds from the start of a process to its first answer to a guarded request, as of a serverless function. */
  async coldStart(variant: Variant, token: string): Promise<number> {
    const since = performance.now();
    const child = this.fork(variant, { COLD: '1' });
    const { port } = await messageOf<{ port: number }>(child, variant);
    const client = new Client(`http://127.0.0.1:${port}`, 1);
    await client.expect(200, 'GET', '/guarded', { token });
    const ms = performance.now() - since;
    client.close();
    await end(child);
    return ms;
  }

  async sampled(variant: Variant): Promise<Omit<FootprintSample, 'coldMs'> & { token: string }> {
    const child = this.fork(variant);
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
    await end(child);
    const [rss, heap] = [started.rss / MB, started.heapUsed / MB];
    const { startMs, cpuMs, token } = started;
    return { startMs, cpuMs, rss, heap, rssLater: later.rss / MB, heapLater: later.heapUsed / MB, token };
  }

  private fork(variant: Variant, more: NodeJS.ProcessEnv = {}): ChildProcess {
    const child = fork(this.file, {
      execArgv: ['--expose-gc', ...flagsOf(variant)],
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        DATABASE_URL: this.stores.databaseUrl,
        REDIS_URL: this.stores.redisUrl,
        VARIANT: variant,
        MEMBER: this.member,
        // As long as a real access token.
        TOKEN_LIKE: 'x'.repeat(400),
        ...more,
      },
    });
    this.cleanup.add(() => child.kill('SIGKILL'));
    return child;
  }
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.disconnect();
  await ended;
}

const cleanup = new Cleanup();
main(cleanup)
  .catch((error: unknown) => cleanup.report(error))
  .finally(() => cleanup.run());
