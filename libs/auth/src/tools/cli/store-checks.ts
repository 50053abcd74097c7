import type { DataSource } from 'typeorm';
import type { AuthConfig } from '../../foundation/config/auth-config';
import { Clock } from '../../foundation/platform/clock';
import { type Database, quotedPath } from '../../foundation/platform/database';
import { withTimeout } from '../../foundation/platform/deadline';
import { redisRefusal } from '../../foundation/platform/errors';
import { hasPeer, optionalPeer } from '../../foundation/platform/optional-peer';
import { connectedOn, isOnPool } from '../../foundation/platform/postgres-pool';
import { type RedisSource, StoreFactory, onMaster } from '../../foundation/security-store/redis-client';
import { redisClientOf } from '../../foundation/security-store/first-connection';
import { OwnRedis } from '../../foundation/security-store/own-redis';
import { createdStore, missingStore, refuseFaulty, unshared } from '../../foundation/security-store/select-store';
import { evictionProblem, policyIn } from '../../foundation/security-store/store-proof';
import { type MissingColumn, columnsOfUsers, libraryColumns, missingColumns } from '../migrations/missing-schema';
import { TABLES, authEntities } from '../../library-options';
import {
  ANSWER_MS,
  type Finding,
  type Subject,
  type UnnamedFinding,
  error,
  found,
  ok,
  skipped,
  warning,
} from './config-checks';
import { isProduction } from '../../foundation/config/option-values.policy';
import { emailChecks, hashChecks, idChecks, identifierChecks, userRights } from './user-checks';

const DEFAULT_LEEWAY_SECONDS = 5;

/** A difference that is larger than a delay of the network, in milliseconds. */
const NOTABLE_MS = 1000;

/** Why PostgreSQL could not be reached, with the correction. */
export function databaseFailure(failure: Error): Finding[] {
  const { code, errors = [] } = failure as Error & { code?: string; errors?: Error[] };
  // The error of a host with several addresses has no text of its own.
  const text = failure.message || errors.map(({ message }) => message).join(', ') || code || failure.name;
  const cure = CURES.find(([pattern]) => pattern.test(`${text} ${code ?? ''}`))?.[1];
  return found('postgres', error(`No connection to PostgreSQL: ${text}`, cure ?? 'Check DATABASE_URL.'));
}

const CURES: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED|ETIMEDOUT|timeout/i, 'Start PostgreSQL, or correct the host and the port in DATABASE_URL.'],
  [/ENOTFOUND|EAI_AGAIN/, 'Correct the host in DATABASE_URL.'],
  [/password|28P01|28000|role "/, 'Correct the user and the password in DATABASE_URL.'],
  [/database ".*" does not exist|3D000/, 'Create the database with createdb, or correct its name in DATABASE_URL.'],
  [/certificate|SSL/i, 'Correct the TLS settings of the data source (ssl).'],
];

/** A connection to the database of `DATABASE_URL`, with a pool that the caller ends. */
interface OpenPostgres {
  readonly pool: { end(): Promise<void> };
  readonly source: DataSource;
}

/** Connects to a database, or adds why not to the findings. */
export async function connected(url: string | undefined, before: Finding[]): Promise<OpenPostgres | undefined> {
  if (!url) {
    before.push(...found('postgres', skipped('DATABASE_URL is not set, so PostgreSQL is not checked.')));
    return undefined;
  }
  const pg = optionalPeer<typeof import('pg')>('pg');
  if (!pg) {
    before.push(...found('postgres', skipped('The package pg is not installed, so PostgreSQL is not checked.')));
    return undefined;
  }
  const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 5000 });
  try {
    return { pool, source: await connectedOn(pool, authEntities) };
  } catch (failure) {
    await pool.end().catch(() => undefined);
    before.push(...databaseFailure(failure as Error));
    return undefined;
  }
}

/** The server, the tables, the indexes, the rights and the clock of PostgreSQL. */
export async function databaseChecks({ database, config }: Subject): Promise<Finding[]> {
  if (!database || (config?.verifyOnly && !database.hasEntity(TABLES[0]!.entity))) return [];
  try {
    return [
      ...found('postgres', await serverCheck(database)),
      ...(await tableChecks(database, config)),
      ...(await idChecks(database, config)),
      ...(await identifierChecks(database, config)),
      ...(await userRights(database, config)),
      ...(await hashChecks(database, config)),
      ...(await emailChecks(database, config)),
      ...(await clockCheck('PostgreSQL', config?.guards[0]?.leeway, async () => {
        const [row] = await database.query<{ ms: string }>('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms');
        return Number(row!.ms);
      })),
    ];
  } catch (failure) {
    return databaseFailure(((failure as Error).cause as Error | undefined) ?? (failure as Error));
  }
}

const OLDEST_TESTED = 150_000;

async function serverCheck(database: Database): Promise<UnnamedFinding> {
  const [server] = await database.query<{ version: string; number: string; standby: boolean; readonly: string }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num') AS number,
            pg_is_in_recovery() AS standby, current_setting('default_transaction_read_only') AS readonly`,
  );
  const { version, number, standby, readonly } = server!;
  if (standby || readonly === 'on') {
    const message = `PostgreSQL ${version} ${standby ? 'is a standby' : 'is read-only (default_transaction_read_only)'}.`;
    return error(message, 'Connect to the primary: no session can be stored here.');
  }
  if (Number(number) < OLDEST_TESTED)
    return warning(`PostgreSQL ${version} is not tested.`, 'Use PostgreSQL 15 or later.');
  return ok(`PostgreSQL ${version}.`);
}

async function tableChecks(database: Database, config?: AuthConfig): Promise<Finding[]> {
  if (!TABLES.every(({ entity }) => database.hasEntity(entity))) {
    const cure = 'Add ...authEntities to its entities, and ...authMigrations to its migrations.';
    return found('tables', error('The data source has not all entities of the library.', cure));
  }
  const ofUsers = config ? columnsOfUsers(database, config) : [];
  const missing = await missingColumns(database, [...libraryColumns(database, TABLES), ...ofUsers]);
  if (missing.length) {
    const names = missing.map(({ table, column, migration, isTable }) =>
      isTable
        ? `The table ${table} is missing: ${migration}.`
        : `The column ${table}.${column} is missing: ${migration}.`,
    );
    const cure =
      isOnPool(database.source) || !hasPeer('typeorm')
        ? 'Run the migrations: migrateAuth(pool), or the command svc:migrate.'
        : 'Run the migrations: npx typeorm migration:run -d dist/data-source.js, or migrationsRun: true.';
    const elsewhere = await otherSchema(database, missing);
    return found('tables', elsewhere ?? error([...new Set(names)].join('\n'), cure));
  }
  const tables = TABLES.map(({ entity }) => database.source.getMetadata(entity));
  const names = tables.map(({ tablePath }) => quotedPath(tablePath));
  const forbidden = await database.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[]) AS name
      WHERE NOT (has_table_privilege(name, 'SELECT') AND has_table_privilege(name, 'INSERT')
             AND has_table_privilege(name, 'UPDATE') AND has_table_privilege(name, 'DELETE'))`,
    [names],
  );
  const present = await database.query<{ name: string; valid: boolean }>(
    `SELECT index.relname AS name, pg_index.indisvalid AS valid
       FROM pg_index JOIN pg_class AS index ON index.oid = pg_index.indexrelid
      WHERE pg_index.indrelid = ANY (SELECT to_regclass(name) FROM unnest($1::text[]) AS name)`,
    [names],
  );
  const usable = new Set(present.filter(({ valid }) => valid).map(({ name }) => name));
  const unusable = tables.flatMap(({ indices, tablePath }) =>
    indices.filter(({ name }) => !usable.has(name)).map((index) => ({ index, tablePath })),
  );
  return [
    ...found(
      'tables',
      ok(`The tables ${tables.map(({ tableName }) => tableName).join(', ')} have all columns.`),
      ...forbidden.map(({ name }) =>
        error(
          `The role of the application may not read and write ${name}.`,
          `GRANT SELECT, INSERT, UPDATE, DELETE ON ${name} TO the role.`,
        ),
      ),
    ),
    ...found(
      'indexes',
      ...unusable.map(({ index: { name, isUnique, columns, where }, tablePath }) =>
        error(
          `The index ${name} of ${tablePath} is missing or invalid.`,
          `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX ${name} ON ${quotedPath(tablePath)} ` +
            `(${columns.map(({ databaseName }) => databaseName).join(', ')})${where ? ` WHERE ${where}` : ''};`,
        ),
      ),
      ...(unusable.length ? [] : [ok('All indexes of these tables are valid.')]),
    ),
  ];
}

/**
 * The migrations create tables in the first schema of the search path, which is not the option `schema` of the data source.
 * Undefined if no missing table is in the search path.
 */
async function otherSchema(database: Database, missing: readonly MissingColumn[]): Promise<UnnamedFinding | undefined> {
  const paths = missing.filter(({ isTable, table }) => isTable && table.includes('.')).map(({ table }) => table);
  const tables = [...new Set(paths)].map((path) => path.split('.') as [schema: string, name: string]);
  const present = await database.query<{ name: string; schema: string }>(
    `SELECT name, nspname AS schema
       FROM unnest($1::text[]) AS name JOIN pg_class ON pg_class.oid = to_regclass(quote_ident(name))
       JOIN pg_namespace ON pg_namespace.oid = relnamespace ORDER BY name`,
    [tables.map(([, name]) => name)],
  );
  const [first] = present;
  const wanted = tables.find(([, name]) => name === first?.name)?.[0];
  if (!first || !wanted) return undefined;
  const moves = present.map(
    ({ name, schema }) => `ALTER TABLE ${quotedPath(`${schema}.${name}`)} SET SCHEMA "${wanted}";`,
  );
  return error(
    `The table ${wanted}.${first.name} is missing, but ${first.schema}.${first.name} exists: the data source has the schema ` +
      `"${wanted}", and the search path of its connections begins with another one.`,
    `Add ?options=-csearch_path=${wanted} to DATABASE_URL, and move the tables: ${moves.join(' ')}`,
  );
}

/** Compares a clock with that of the process. Half of the time of the answer is not known, and is subtracted. */
async function clockCheck(
  server: string,
  leeway = DEFAULT_LEEWAY_SECONDS,
  read: () => Promise<number>,
): Promise<Finding[]> {
  const [clock, sentAt] = [new Clock(), performance.now()];
  const theirs = await read();
  const unknown = (performance.now() - sentAt) / 2;
  const difference = Math.round(theirs - (clock.now() - unknown));
  const least = Math.abs(difference) - unknown;
  const message = `The clock of ${server} differs from that of this process by ${difference} ms.`;
  const cure = 'Synchronize both machines with NTP: tokens and sessions have times of both.';
  if (least > leeway * 1000) return found('clocks', error(`${message} The option leeway allows ${leeway} s.`, cure));
  return found('clocks', least > NOTABLE_MS ? warning(message, cure) : ok(message));
}

/** What the start finds wrong with the option `cache`. @throws AuthConfigError for one that cannot be used */
export async function storeFindings(config: AuthConfig): Promise<Finding[]> {
  const store = await createdStore(config, new Clock(), new OwnRedis());
  // The checks of Redis use it.
  if (!(config.store instanceof StoreFactory || redisClientOf(config.store)))
    await refuseFaulty(store, config.storeTimeoutMs);
  const problem = unshared(store, config, isProduction());
  return problem ? found('redis', (isProduction() ? error : warning)(problem)) : [];
}

type Ask = (...words: string[]) => Promise<unknown>;

/** The version, the role, the eviction, the persistence and the clock of Redis; of each master of a cluster. */
export async function redisChecks({ redis, config }: Subject): Promise<Finding[]> {
  if (!redis) {
    if (!config || config.store || config.redis.url) return [];
    const message = `${missingStore()}. The store is in the memory of the process.`;
    const cure =
      'Set redis.url, such as redis://localhost:6379. In production the application does not start without it.';
    return found('redis', (isProduction() ? error : warning)(message, cure));
  }
  const findings = await Promise.all((await askersOf(redis)).map((ask) => ofMaster(ask, config?.guards[0]?.leeway)));
  return findings.flat();
}

/** Sends commands to the server; to each master of a cluster. */
export async function askersOf(source: RedisSource | StoreFactory): Promise<Ask[]> {
  if (!(source instanceof StoreFactory)) return [(...words) => onMaster(source, (client) => client.sendCommand(words))];
  const clients = await source.clients();
  return clients.map(
    (client) =>
      (...words) =>
        client.sendCommand(words),
  );
}

async function ofMaster(ask: Ask, leeway?: number): Promise<Finding[]> {
  const within: Ask = (...words) => withTimeout('Redis', ANSWER_MS, ask(...words));
  try {
    await within('PING');
    return [
      ...found('redis', await redisServer(within), await eviction(within), ...(await persistence(within))),
      ...(await clockCheck('Redis', leeway, async () => {
        const [seconds, micros] = (await within('TIME')) as [string, string];
        return Number(seconds) * 1000 + Number(micros) / 1000;
      })),
    ];
  } catch (failure) {
    const { message, cause } = failure as Error & { cause?: Error };
    // The commands of these checks have no keys.
    const refusal = [failure, cause].find((one) => redisRefusal(one) !== undefined) as Error | undefined;
    const problem = refusal
      ? error(
          `Redis refuses a command: ${refusal.message}`,
          'Correct the user and the password in redis.url (SVC_REDIS_URL), or the rights of the user.',
        )
      : error(
          `Redis does not answer: ${cause?.message || message}`,
          'Start Redis, or correct redis.url (SVC_REDIS_URL) or the client of cache.',
        );
    return found('redis', problem);
  }
}

const OLDEST_REDIS = 6.2;

async function redisServer(ask: Ask): Promise<UnnamedFinding> {
  const info = await Promise.all([ask('INFO', 'server'), ask('INFO', 'replication')]).catch(() => undefined);
  if (!info) {
    const cure = 'Allow it: ACL SETUSER <user> +info. Without it, services that only verify answer 503.';
    return warning('The user of Redis may not run INFO.', cure);
  }
  const text = info.join('\n');
  const [, version = ''] = /^redis_version:(\S+)/m.exec(text) ?? [];
  if (/^role:slave/m.test(text))
    return error(`Redis ${version} is a replica.`, 'Connect to the master: a replica refuses writes.');
  if (Number.parseFloat(version) < OLDEST_REDIS)
    return error(`Redis ${version} is too old.`, 'Use Redis 6.2 or later, or Valkey.');
  return ok(`Redis ${version}.`);
}

async function eviction(ask: Ask): Promise<UnnamedFinding> {
  const config = await ask('CONFIG', 'GET', 'maxmemory-policy').catch(() => null);
  const policy = policyIn(config) ?? policyIn(await ask('INFO', 'memory').catch(() => null));
  const problem = evictionProblem(policy);
  if (problem === null) return ok('The maxmemory-policy is noeviction.');
  return (isProduction() && policy !== null ? error : warning)(problem);
}

async function persistence(ask: Ask): Promise<UnnamedFinding[]> {
  const info = String(await ask('INFO', 'persistence').catch(() => ''));
  if (!info) return [];
  if (/^aof_enabled:1/m.test(info)) return [ok('appendonly is on: the data is kept at a restart.')];
  const cure = 'Set appendonly to yes (CONFIG SET appendonly yes, and in its configuration).';
  const message = 'appendonly is off: a restart of Redis loses the denials since its last snapshot, or all of them.';
  return [warning(message, cure)];
}
