// Measures what the history of accounts (`features.audit`) costs a login, and a page of the history in a large table.
import { randomInt } from 'node:crypto';
import { dataSourceOf, createDatabase } from '../test/support/stores/database';
import { PEOPLE, type Tokens } from './apps/serve';
import { Cleanup } from './cleanup';
import { fillTables } from './fill-tables';
import { Client } from './growth/client';
import { login } from './groups/group';
import { type Sample, sample } from './load';
import { Server } from './server';
import { readSettings, readSizes } from './settings';
import { median, quantile } from './statistics';
import { storeCalls } from './store-calls';
import { type Stores, hashCheaply, startStores } from './stores';

const SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '250' };

/** Lines of a page, and the number of pages that are read at each size. */
const [LIMIT, PAGES] = [50, 5000];

const rounded = (value: number): string => value.toFixed(2);
const print = (line: string): boolean => process.stdout.write(`${line}\n`);
const cost = ({ cpuMicros, postgresMicros, redisMicros }: Sample): number =>
  cpuMicros! + postgresMicros! + redisMicros!;

async function logins(stores: Stores, cleanup: Cleanup): Promise<void> {
  const { rounds, seconds, connections } = readSettings({ BENCH_ROUNDS: '10', ...process.env });
  await fillTables(stores);
  await hashCheaply(stores);
  const loads = [];
  for (const BENCH_FEATURES of ['default', 'audit']) {
    const server = await Server.start('ours', stores, cleanup, { BENCH_FEATURES, BENCH_HASHING: 'cheapest' });
    const load = login(BENCH_FEATURES, server, '/auth/login');
    loads.push(load);
    print(`${BENCH_FEATURES}: ${(await storeCalls(load, stores)).sql.join('; ')}`);
  }
  const ratios: Record<'processors' | 'server' | 'postgres', number[]> = { processors: [], server: [], postgres: [] };
  for (let round = 0; round < rounds; round++) {
    const taken: Sample[] = [];
    for (const at of round % 2 ? [1, 0] : [0, 1])
      taken[at] = await sample(loads[at]!, seconds, { connections, stores });
    const [off, on] = taken as [Sample, Sample];
    ratios.processors.push(cost(on) / cost(off));
    ratios.server.push(on.cpuMicros! / off.cpuMicros!);
    ratios.postgres.push(on.postgresMicros! / off.postgresMicros!);
    print(`round ${round + 1}: ${rounded(cost(off))} µs without, ${rounded(cost(on))} µs with`);
  }
  for (const [name, all] of Object.entries(ratios))
    print(
      `login, ${name}: median ratio ${rounded(median(all))}, from ${rounded(Math.min(...all))} to ${rounded(Math.max(...all))}`,
    );
  for (const { server } of loads) await server.stop();
}

/** Lines of the users in turn, over a year. The first line of a user with an id below `PEOPLE` is at the beginning. */
async function filled(stores: Stores, lines: number, users: number): Promise<Stores> {
  const { url } = await createDatabase();
  const source = await dataSourceOf(url).initialize();
  await source.query(
    `INSERT INTO people (email, password_hash) SELECT 'p' || n || '@example.com', 'x' FROM generate_series(1, ${PEOPLE}) n`,
  );
  await source.query(
    `INSERT INTO svc_audit_keys SELECT 'api', n::text, sha256(n::text::bytea) FROM generate_series(1, ${PEOPLE}) n`,
  );
  for (let from = 1; from <= lines; from += 1_000_000)
    await source.query(`
      INSERT INTO svc_audit (id, at, guard, user_id, operation, outcome, actor_kind, session_id, personal, seal)
      SELECT (lpad(to_hex((extract(epoch FROM at) * 1000000)::bigint), 16, '0') || substr(md5(n::text), 1, 16))::uuid, at,
             'api', (1 + n % ${users})::text, 'auth.session.started', 'succeeded', 'user', md5(n::text), repeat('x', 250),
             ('x' || md5(n::text) || md5(n::text))::bit(256)
        FROM (SELECT n, now() - interval '360 days' * (1 - n::float8 / ${lines}) AS at
                FROM generate_series(${from}, ${Math.min(lines, from + 999_999)}) n) l`);
  await source.query('VACUUM ANALYZE svc_audit');
  const [size] = await source.query(`SELECT pg_total_relation_size('svc_audit') / 1048576 AS mib`);
  print(`${lines} lines: ${size.mib} MiB`);
  await source.destroy();
  return { ...stores, databaseUrl: url };
}

async function pages(stores: Stores, cleanup: Cleanup): Promise<void> {
  const sizes = [1000, ...readSizes(10_000_000)];
  const readers = [];
  for (const size of sizes) {
    const users = Math.min(PEOPLE, size / 100);
    const own = await filled(stores, size, users);
    const server = await Server.start('ours', own, cleanup, { BENCH_FEATURES: 'audit', BENCH_QUIET: '1' });
    const client = new Client(server.url, 1);
    cleanup.add(() => client.close());
    const tokens = await server.sessions<Tokens>('', users);
    readers.push({ size, client, tokens, times: [] as number[] });
  }
  for (let page = -500; page < PAGES; page++)
    for (const { client, tokens, times } of page % 2 ? readers : readers.toReversed()) {
      // In the later half of the year each user has a whole page of earlier lines.
      const micros = BigInt(Date.now() - randomInt(170 * 86_400) * 1000) * 1000n;
      const hex = micros.toString(16).padStart(16, '0');
      const before = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12)}-0000-000000000000`;
      const { access_token: token } = tokens[randomInt(tokens.length)]!;
      const answer = await client.expect(200, 'GET', `/auth/history?limit=${LIMIT}&before=${before}`, { token });
      if (page === 0 && (JSON.parse(answer.text) as { data: unknown[] }).data.length !== LIMIT)
        throw new Error('a part of a page');
      if (page >= 0) times.push(answer.milliseconds);
    }
  for (const { size, times } of readers)
    print(
      `${size} lines: p50 ${rounded(quantile(times, 0.5))} ms, p99 ${rounded(quantile(times, 0.99))} ms, of ${times.length} pages`,
    );
  const [small, large] = [readers[0]!.times, readers.at(-1)!.times];
  for (const share of [0.5, 0.99])
    print(`page, p${share * 100}: ratio ${rounded(quantile(large, share) / quantile(small, share))}`);
}

async function main(cleanup: Cleanup): Promise<void> {
  const { only } = readSettings();
  cleanup.deadline(1200);
  const stores = await startStores(cleanup, { ...SETTINGS, shared_buffers: '1GB', max_wal_size: '8GB' });
  if (!only.length || only.includes('logins')) await logins(stores, cleanup);
  if (!only.length || only.includes('pages')) await pages(stores, cleanup);
}

const cleanup = new Cleanup();
main(cleanup)
  .catch((error: unknown) => cleanup.report(error))
  .finally(() => cleanup.run());
