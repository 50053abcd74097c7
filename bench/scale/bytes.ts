import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { dataSourceOf } from '../../test/support/stores/database';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { familyKey, longestLife, tokenKey } from '../../libs/auth/src/identity/denylist/denylist';
import { limit } from '../../libs/auth/src/request/throttling/limiters';
import { RedisSecurityStore } from '../../libs/auth/src/foundation/security-store/redis-security-store';
import { redisClientOf } from '../../libs/auth/src/foundation/security-store/first-connection';
import { RedisServer } from '../../test/support/stores/redis';
import type { Deployment } from '../growth/deployment';
import { walPosition } from '../growth/writes';
import { PEOPLE, type Tokens } from '../apps/serve';
import { personOf } from '../stores';

/** Bytes of one entry on disk, in the table and in each index, by their names. */
export type OnDisk = Record<string, number>;

/** Bytes of one session, each part divided by the number of rows that it contains. */
export async function diskBytes(source: DataSource): Promise<OnDisk> {
  await source.query('ANALYZE svc_sessions');
  const rows = await source.query<{ name: string; each: number }[]>(`
    SELECT relname AS name, (pg_table_size(oid) / nullif(reltuples, 0))::float8 AS each FROM pg_class
     WHERE oid = 'svc_sessions'::regclass OR oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = 'svc_sessions'::regclass)`);
  return Object.fromEntries(rows.map(({ name, each }) => [name, each]));
}

const TOMBSTONES = 100_000;

/** Bytes of one row of an erased account, with its index entries. */
export async function tombstoneBytes(source: DataSource): Promise<number> {
  await source.query('CREATE TABLE svc_tombstones (LIKE svc_sessions INCLUDING ALL) WITH (fillfactor = 80)');
  // The columns as `erased` in session.sql.ts leaves them.
  await source.query(`
    INSERT INTO svc_tombstones (id, guard, user_id, salt, auth_time, generation, holders, expires_at, revoked_at,
                                last_used_at, created_at)
    SELECT gen_random_uuid(), 'api', '', '', t, 0, 0, t, t, t, t
      FROM generate_series(1, ${TOMBSTONES}) n, LATERAL (SELECT now() - n * interval '1 millisecond' AS t) m`);
  const [{ bytes }] = await source.query<[{ bytes: number }]>(
    `SELECT pg_total_relation_size('svc_tombstones')::float8 AS bytes`,
  );
  await source.query('DROP TABLE svc_tombstones');
  return bytes / TOMBSTONES;
}

export const REQUESTS = ['login', 'refresh', 'first guarded after a refresh', 'further guarded', 'logout'] as const;
export type Request = (typeof REQUESTS)[number];

/** The settings of PostgreSQL that decide how much WAL a change writes, and how long after a checkpoint it happens. */
export const WAL_SETTINGS = {
  /** The first change of each page after a checkpoint writes the whole page. */
  'first after a checkpoint': { full_page_writes: 'on', wal_compression: 'off' },
  'the same, wal_compression = pglz': { full_page_writes: 'on', wal_compression: 'pglz' },
  /** As a later change of the same pages. */
  later: { full_page_writes: 'off', wal_compression: 'off' },
} as const;
export type WalSetting = keyof typeof WAL_SETTINGS;

/** Bytes of WAL of one request. */
export type Wal = Record<WalSetting, Record<Request, number>>;

const EACH = 200;
/** Fewer, because each is a password hash. */
const LOGINS = 60;
const RELOAD_MS = 200;

/** Sends each kind of request one after the other, to sessions from anywhere in the table, and reads the WAL. */
export async function walBytes(side: Deployment): Promise<Wal> {
  const source = await dataSourceOf(side.stores.databaseUrl).initialize();
  const wal: Partial<Wal> = {};
  let person = 0;
  for (const [setting, values] of Object.entries(WAL_SETTINGS)) {
    for (const [name, value] of Object.entries(values)) await source.query(`ALTER SYSTEM SET ${name} = '${value}'`);
    await source.query('SELECT pg_reload_conf()');
    await sleep(RELOAD_MS);
    const bytesOfEach = async (send: (i: number) => Promise<unknown>, count = EACH): Promise<number> => {
      await source.query('CHECKPOINT');
      const before = await walPosition(source);
      for (let i = 0; i < count; i++) await send(i);
      return ((await walPosition(source)) - before) / count;
    };
    const access: string[] = [];
    const taken = side.filled.tokens.splice(0, EACH);
    const refresh = await bytesOfEach(async (i) => {
      const { text } = await side.client.expect(200, 'POST', '/auth/refresh', { body: { refresh_token: taken[i] } });
      access.push((JSON.parse(text) as Tokens).access_token);
    });
    const guarded = (i: number) => side.client.expect(200, 'GET', '/guarded', { token: access[i] });
    const first = await bytesOfEach(guarded);
    const further = await bytesOfEach(guarded);
    const logout = await bytesOfEach((i) => side.client.expect(204, 'POST', '/auth/logout', { token: access[i] }));
    const login = await bytesOfEach(
      () => side.client.expect(200, 'POST', '/auth/login', { body: personOf((person++ % PEOPLE) + 1) }),
      LOGINS,
    );
    wal[setting as WalSetting] = {
      login,
      refresh,
      'first guarded after a refresh': first,
      'further guarded': further,
      logout,
    };
  }
  for (const name of ['full_page_writes', 'wal_compression']) await source.query(`ALTER SYSTEM RESET ${name}`);
  await source.query('SELECT pg_reload_conf()');
  await source.destroy();
  return wal as Wal;
}

const KEYS = 100_000;
const AT_ONCE = 1000;
const LIFE = longestLife({ accessTtl: 900, leeway: 5 });

/** Bytes of memory of one key in Redis, with its entries in the tables of keys and of expiries, by its kind. */
export async function redisBytes(): Promise<Record<string, number>> {
  const server = await RedisServer.start();
  const { client } = await redisCache(server.url);
  const store = new RedisSecurityStore(redisClientOf(client)!, 10_000);
  const kinds: Record<string, (keys: number[]) => Promise<unknown>> = {
    denial: (keys) =>
      store.setMany(
        keys.map(() => familyKey(randomUUID(), store)),
        'true',
        LIFE,
      ),
    counter: (keys) =>
      Promise.all(keys.map((n) => store.count([limit('login', { key: `${n}`, maxAttempts: 5, decaySeconds: LIFE })]))),
    challenge: (keys) => Promise.all(keys.map(() => store.add(tokenKey(randomUUID(), ''), 'true', LIFE))),
  };
  const bytes: Record<string, number> = {};
  for (const [kind, write] of Object.entries(kinds)) {
    await client.flushAll();
    const before = await usedMemory(client);
    for (let n = 0; n < KEYS; n += AT_ONCE) await write(Array.from({ length: AT_ONCE }, (_, i) => n + i));
    bytes[kind] = ((await usedMemory(client)) - before) / KEYS;
  }
  await client.disconnect();
  await server.stop();
  return bytes;
}

const usedMemory = async (client: { info(section: string): Promise<string> }): Promise<number> =>
  Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1]);
