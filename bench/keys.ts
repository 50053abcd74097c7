// Compares guarded requests with an access key and with an access token, and requests with a key in a small and in a large table.
import { dataSourceOf } from '../test/support/stores/database';
import { Cleanup } from './cleanup';
import { fillTables } from './fill-tables';
import { bearer, guarded } from './groups/group';
import { type Load, type Sample, sample } from './load';
import { guardedRequests, machine } from './markdown';
import { publish } from './page';
import { Server } from './server';
import { readSettings } from './settings';
import { median } from './statistics';
import { type Stores, startStores } from './stores';

const MANY = 1_000_000;

const keyed = (name: string, server: Server): Load => ({
  name,
  server,
  method: 'GET',
  path: '/keyed',
  connections: async (count) =>
    (await server.get<{ access_key: string }[]>(`/keys?count=${count}`)).map(({ access_key }) => ({
      headers: bearer({ access_token: access_key }),
    })),
});

async function fillKeys({ databaseUrl }: Stores): Promise<void> {
  const source = await dataSourceOf(databaseUrl).initialize();
  await source.query(`
    INSERT INTO svc_access_keys (id, guard, user_id, label, scope, networks, secret_mac, created_at, seen_networks)
    SELECT gen_random_uuid(), 'api', 'former-' || n % 50000, 'former', '', '', encode(sha256(n::text::bytea), 'hex'), now(), ''
      FROM generate_series(1, ${MANY}) n`);
  await source.query('VACUUM ANALYZE svc_access_keys');
  await source.destroy();
}

async function main(cleanup: Cleanup): Promise<void> {
  const settings = readSettings({ BENCH_ROUNDS: '7', BENCH_SECONDS: '3', ...process.env });
  const { rounds, seconds, connections } = settings;
  cleanup.deadline(600 + rounds * 4 * (2 * seconds + 5));
  const stores = await startStores(cleanup);
  await fillTables(stores);
  const server = await Server.start('ours', stores, cleanup, { BENCH_KEYS: '1' });
  const loads: Readonly<Record<string, Load>> = {
    token: guarded('a token', server, '', '/guarded'),
    key: keyed('a key', server),
  };
  const samples: Record<string, Sample[]> = { token: [], key: [], many: [] };
  for (let round = 0; round < rounds; round++)
    for (const [name, load] of Object.entries(loads))
      samples[name]!.push(await sample(load, seconds, { connections, stores }));
  await fillKeys(stores);
  for (let round = 0; round < rounds; round++)
    samples.many!.push(await sample(loads.key!, seconds, { connections, stores }));

  const of = (name: string, figure: 'perSecond' | 'p99'): number =>
    median(samples[name]!.map((one) => one[figure] ?? 0));
  const figures = [
    machine(),
    guardedRequests([
      ['an access token', samples.token!],
      ['an access key', samples.key!],
      [`an access key, ${MANY} more keys in the table`, samples.many!],
    ]),
    `Requests with a key: ${(of('key', 'perSecond') / of('token', 'perSecond')).toFixed(2)} of those with a token (bar: 0.9). ` +
      `With ${MANY} keys: p99 ${(of('many', 'p99') / of('key', 'p99')).toFixed(2)} of that with few (bar: 1.2).`,
  ];
  await publish('keys', figures.join('\n\n'));
}

const cleanup = new Cleanup();
main(cleanup)
  .catch((error: unknown) => cleanup.report(error))
  .finally(() => cleanup.run());
