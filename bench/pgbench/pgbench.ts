import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { dataSourceOf } from '../../test/support/stores/database';
import type { Recorded } from '../apps/counting';
import type { Bench, Scenario } from '../groups/group';
import { type Load, type Sample, storesSpent } from '../load';
import { type Script, scriptOf } from './script';
import { sendOne } from '../store-calls';
import type { Stores } from '../stores';

/** The default pool size of node-postgres, which TypeORM does not change. */
const POOL = 10;
const ATTEMPTS = 3;
/** More refreshes than a session stores times of. From then on, each refresh drops as many as it adds. */
const REFRESHES_BEFORE = 100;

/**
 * Measures PostgreSQL with only the statements of a request: pgbench sends the recorded statements of the server in
 * their order and prepared, over as many connections as the server has. Undefined without a pgbench.
 */
export async function pgbench({ stores, cleanup }: Bench, load: Load): Promise<Scenario | undefined> {
  if (spawnSync('pgbench', ['--version']).status !== 0) return undefined;
  const directory = mkdtempSync(join(tmpdir(), 'svc-pgbench-'));
  cleanup.add(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'script.sql');
  return {
    name: `pgbench: the SQL of one refresh, ${POOL} connections`,
    async sample(seconds) {
      const { text, own } = await recordedScript(load);
      await store(stores, own);
      const names = Object.keys(own[0]!).map((name) => `"${name}"`);
      // Once for each client: the session that it refreshes.
      const begin = `\\if :begins\nSELECT ${names.join(', ')} FROM bench_chains WHERE client = :client_id \\gset\n\\set begins 0\n\\endif\n`;
      writeFileSync(file, begin + text);
      return run(stores, file, Math.ceil(seconds));
    },
  };
}

/**
 * Records two refreshes each of some sessions that are in the same state as under a continuous load. A background
 * statement of the server between them invalidates the recording.
 */
async function recordedScript(load: Load, attempt = 1): Promise<Script> {
  const chains = await load.connections(POOL, 1);
  await Promise.all(
    chains.map(async (chain) => {
      for (let i = 0; i < REFRESHES_BEFORE; i++) await sendOne(load, chain);
    }),
  );
  const recorded: [Recorded[], Recorded[]][] = [];
  for (const chain of chains) {
    const request = (): Promise<Recorded[]> => load.server.recorded(() => sendOne(load, chain));
    recorded.push([await request(), await request()]);
  }
  try {
    return scriptOf(recorded);
  } catch (error) {
    if (attempt === ATTEMPTS) throw error;
    return recordedScript(load, attempt + 1);
  }
}

async function store({ databaseUrl }: Stores, own: Script['own']): Promise<void> {
  const source = await dataSourceOf(databaseUrl).initialize();
  const columns = Object.keys(own[0]!).map((name) => `"${name}"`);
  await source.query('DROP TABLE IF EXISTS bench_chains');
  await source.query(`CREATE TABLE bench_chains (client int, ${columns.map((name) => `${name} text`).join(', ')})`);
  for (const [client, values] of own.entries()) {
    const places = columns.map((_, i) => `$${i + 2}`);
    await source.query(`INSERT INTO bench_chains VALUES ($1, ${places.join(', ')})`, [
      client,
      ...Object.values(values),
    ]);
  }
  await source.destroy();
}

async function run(stores: Stores, file: string, seconds: number): Promise<Sample> {
  const before = { ...(await storesSpent(stores)), rotations: await rotations(stores) };
  const clients = ['-c', String(POOL), '-j', '1', '-T', String(seconds), '-D', 'begins=1'];
  const { stdout } = await promisify(execFile)('pgbench', [
    '-n',
    '-M',
    'prepared',
    ...clients,
    '-f',
    file,
    stores.databaseUrl,
  ]);
  const after = { ...(await storesSpent(stores)), rotations: await rotations(stores) };
  const [, done] = /actually processed: (\d+)/.exec(stdout) ?? [];
  const [, rate] = /^tps = ([\d.]+)/m.exec(stdout) ?? [];
  const rotated = after.rotations - before.rotations;
  // Each refresh increases the generation of one session by one: a script that does less proves nothing.
  if (!done || !rate || rotated !== Number(done))
    throw new Error(`pgbench rotated ${rotated} times in ${done} transactions:\n${stdout}`);
  return { perSecond: Number(rate), postgresMicros: (after.postgresMicros! - before.postgresMicros!) / Number(done) };
}

/** The total number of refreshes of all sessions. */
async function rotations({ databaseUrl }: Stores): Promise<number> {
  const source = await dataSourceOf(databaseUrl).initialize();
  const [{ sum }] = await source.query<[{ sum: number }]>('SELECT sum(generation)::float8 FROM svc_sessions');
  await source.destroy();
  return sum;
}
