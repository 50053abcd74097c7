import { createHash, randomInt } from 'node:crypto';
import type { DataSource, QueryRunner } from 'typeorm';
import { resolveOptions } from '../../libs/auth/src/foundation/config/resolve-options';
import { OPTIONS } from '../../libs/auth/src/library-options';
import { Realm } from '../../libs/auth/src/foundation/realm/realm';
import { RefreshTokens } from '../../libs/auth/src/identity/tokens/refresh-tokens';
import { createDatabase, dataSourceOf } from '../../test/support/stores/database';
import { SECRET } from '../apps/serve';
import { ADA, digestOf } from '../stores';

/** Each session has been refreshed fewer times than this. */
const GENERATIONS = 7;
const SESSIONS_EACH = 4;
/** One of this many sessions has ended and waits for its deadline. */
const ENDED = 10;
/** A guard beside that of the requests. */
export const APART = 'apart';
export const OLDEST = 20;
/** The number of rows that one statement inserts. */
const CHUNK = 1_000_000;

/** Users whose sessions will all be ended: the numbers of sessions, and the number of users for each. */
export interface Crowds {
  sizes: readonly number[];
  repetitions: number;
}

/** A filled database. */
export interface Filled {
  url: string;
  sessions: number;
  users: number;
  /** The size of the whole database on disk, in MiB. */
  mib: number;
  /** The size of `svc_sessions` on disk. */
  bytes: { table: number; indexes: number };
  /** Tokens of live sessions in random order, from all parts of the table. */
  tokens: string[];
  /** A token of each user of {@link Crowds}. */
  crowds: { size: number; token: string }[];
}

/** A user of {@link Crowds} and the numbers of their sessions. */
interface Crowd {
  user: number;
  numbers: number[];
}

const hash = (algorithm: 'md5' | 'sha256', text: string): Buffer => createHash(algorithm).update(text).digest();

const CONFIG = resolveOptions({ secret: SECRET }, OPTIONS);
const TOKENS = new RefreshTokens(new Realm(CONFIG.guards[0]!), CONFIG);

/** The current token of session `n`, computed from the row that {@link insertSessions} writes. */
const tokenOf = (n: number): string =>
  TOKENS.mint(hash('md5', `session-${n}`).toString('hex'), n % GENERATIONS, hash('sha256', `salt-${n}`));

/**
 * Fills a new database as after a month of use: sessions in the order of their start, four per user, each refreshed
 * some times, with random ids.
 *
 * @param maxTokens the maximum number of returned tokens
 * @param apart the guard {@link APART} gets one of this many sessions. Their tokens are not returned, nor those of the oldest
 * sessions, which a benchmark can let expire: one of {@link OLDEST}
 */
export async function fill(
  sessions: number,
  maxTokens: number,
  { sizes, repetitions }: Crowds,
  apart = Infinity,
): Promise<Filled> {
  const { url } = await createDatabase();
  const source = await dataSourceOf(url).initialize();
  const owners = Math.max(1, Math.floor(sessions / SESSIONS_EACH));
  const users = owners + sizes.length * repetitions;
  const draw = drawer(sessions);
  const crowds = Array.from({ length: repetitions }, () => sizes)
    .flat()
    .map((size, i): Crowd => ({ user: owners + 1 + i, numbers: draw(size) }));
  if (crowds.some(({ numbers }, i) => numbers.length < sizes[i % sizes.length]!))
    throw new Error(`the sessions of users with many do not fit into ${sessions}`);
  const tokens = draw(maxTokens)
    .filter((n) => apart === Infinity || (n % apart !== 1 && n > sessions / OLDEST))
    .map(tokenOf);

  const runner = source.createQueryRunner();
  // A crash loses only generated data: the fill does not wait for the disk, the measured requests do.
  await runner.query('SET synchronous_commit = off');
  await runner.query(
    `INSERT INTO people (email, password_hash)
     SELECT 'person-' || n || '@example.com', $1 FROM generate_series(1, ${users}) n`,
    [await digestOf(ADA.password)],
  );
  await insertSessions(runner, sessions, owners, crowds, apart);
  await runner.release();
  await source.query('VACUUM (FREEZE, ANALYZE)');
  await source.query('CHECKPOINT');
  const sizesOnDisk = await onDisk(source);
  await source.destroy();
  return {
    url,
    sessions,
    users,
    ...sizesOnDisk,
    tokens,
    crowds: crowds.map(({ numbers }) => ({ size: numbers.length, token: tokenOf(numbers[0]!) })),
  };
}

async function insertSessions(
  runner: QueryRunner,
  sessions: number,
  owners: number,
  crowds: Crowd[],
  apart: number,
): Promise<void> {
  const guard = Number.isFinite(apart) ? `CASE n % ${apart} WHEN 1 THEN '${APART}' ELSE 'api' END` : "'api'";
  await runner.query('CREATE TEMPORARY TABLE crowd (n int PRIMARY KEY, user_id int NOT NULL)');
  await runner.query('INSERT INTO crowd SELECT * FROM unnest($1::int[], $2::int[])', [
    crowds.flatMap(({ numbers }) => numbers),
    crowds.flatMap(({ numbers, user }) => numbers.map(() => user)),
  ]);
  for (let first = 1; first <= sessions; first += CHUNK)
    await runner.query(`
      INSERT INTO svc_sessions (id, guard, user_id, salt, amr, auth_time, generation, expires_at, revoked_at,
                                last_used_at, ip, user_agent, created_at)
      SELECT md5('session-' || n)::uuid, ${guard}, coalesce(c.user_id, 1 + n % ${owners})::text,
             sha256(('salt-' || n)::bytea), '{pwd}', began, n % ${GENERATIONS}, began + interval '30 days',
             CASE WHEN n % ${ENDED} = 0 THEN began + random() * (now() - began) END, now() - interval '1 hour', '203.0.113.7',
             'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', began
        FROM generate_series(${first}, ${Math.min(sessions, first + CHUNK - 1)}) n LEFT JOIN crowd c USING (n),
             LATERAL (SELECT now() - (29 * (1 - n / ${sessions}::float8)) * interval '1 day' AS began) b`);
}

/** Draws numbers of live sessions at random without repetition, as steps of a Fisher-Yates shuffle. */
function drawer(sessions: number): (count: number) => number[] {
  let remaining = sessions - Math.floor(sessions / ENDED);
  const moved = new Map<number, number>();
  const at = (i: number): number => moved.get(i) ?? i;
  const one = (): number => {
    const drawn = randomInt(remaining--);
    const live = at(drawn);
    moved.set(drawn, at(remaining));
    return live + Math.floor(live / (ENDED - 1)) + 1;
  };
  return (count) => Array.from({ length: Math.min(count, remaining) }, one);
}

async function onDisk(source: DataSource): Promise<Pick<Filled, 'mib' | 'bytes'>> {
  const [{ mib, table, indexes }] = await source.query<[{ mib: number; table: number; indexes: number }]>(`
    SELECT (pg_database_size(current_database()) / 1048576)::int AS mib,
           pg_table_size('svc_sessions')::float8 AS table, pg_indexes_size('svc_sessions')::float8 AS indexes`);
  return { mib, bytes: { table, indexes } };
}
