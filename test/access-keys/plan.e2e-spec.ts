import { Client } from 'pg';
import { KeyedOrders, createKey, keyOwner } from '../support/flows/access-keys';
import { TestApp } from '../support/hosts/app';
import { ADA } from '../support/hosts/user-entities';
import { type PlanKind, measureAccesses, recordStatements } from '../support/stores/query-plans';

describe('a request with an access key', () => {
  const t = TestApp.forFile({ controllers: [KeyedOrders], options: { features: { accessKeys: true } } });

  it('reads one row of a key and one of a user, each by its primary key, whatever the number of both', async () => {
    await t.person(ADA);
    const key = await createKey(t, await keyOwner(t));
    await t.database.query(`INSERT INTO people (email) SELECT n || '@example.com' FROM generate_series(1, 20000) n`);
    await t.database.query(
      `INSERT INTO svc_access_keys (id, guard, user_id, label, scope, networks, secret_mac, created_at, seen_networks)
       SELECT gen_random_uuid(), 'api', n::text, 'x', '', '', '', now(), '' FROM generate_series(1, 20000) n`,
    );
    await t.database.query('ANALYZE people, svc_access_keys');
    const { statements, stop } = recordStatements(/svc_access_keys/);
    await t.get('/orders', key.access_key).expect(200);
    stop();
    expect(statements).toHaveLength(1);
    const client = new Client({ connectionString: t.databaseUrl });
    await client.connect();
    try {
      for (const kind of ['custom', 'generic'] satisfies PlanKind[]) {
        const accesses = await measureAccesses(client, statements[0]!, kind);
        expect([kind, accesses.map(({ table, index, rows }) => ({ table, index, rows }))]).toEqual([
          kind,
          [
            { table: 'svc_access_keys', index: 'svc_access_keys_pkey', rows: 1 },
            { table: 'people', index: 'people_pkey', rows: 1 },
          ],
        ]);
      }
    } finally {
      await client.end();
    }
  });
});
