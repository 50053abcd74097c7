import { createHash } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { createDatabase, dataSourceOf } from '../../test/support/database';
import { ADA, digestOf } from '../stores';

/** Refresh tokens that a session has left behind at most; four are usual. */
const MOST_TOKENS = 7;
const SESSIONS_EACH = 4;
/** One session in so many has been ended, and waits for its deadline. */
const ENDED = 10;

/** Users who are there to have all their sessions ended: so many sessions, each size so often. */
export interface Crowds {
  sizes: readonly number[];
  repetitions: number;
}

/** A database full of sessions. */
export interface Filled {
  url: string;
  sessions: number;
  /** Rows by table. */
  rows: Record<string, number>;
  /** On disk, indexes included, in MiB. */
  mib: number;
  /** Tokens of live sessions, in random order: everywhere in the tables. */
  tokens: string[];
  /** The first token of each user of {@link Crowds}. */
  crowds: { size: number; token: string }[];
}

const secret = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The live token of session `n`. */
const tokenOf = (n: number): string => secret(`token-${n}-${1 + (n % MOST_TOKENS)}`);

/**
 * Fills a database of its own as a month of life leaves one: sessions in the order they began, four to a user; the
 * refresh tokens of one far apart, as each was stored when its time came; ids and hashes without any order.
 *
 * @param wanted tokens to give back at most
 */
export async function fill(sessions: number, wanted: number, { sizes, repetitions }: Crowds): Promise<Filled> {
  const { url } = await createDatabase();
  const source = await dataSourceOf(url).initialize();
  const users = Math.max(1, Math.floor(sessions / SESSIONS_EACH));
  await source.query(
    `INSERT INTO people (email, password_hash)
     SELECT 'person-' || n || '@example.com', $1 FROM generate_series(1, ${users + sizes.length * repetitions}) n`,
    [await digestOf(ADA.password)],
  );
  await crowd(source, sessions, users, sizes, repetitions);
  await source.query(`
    INSERT INTO svc_sessions (id, guard, user_id, amr, auth_time, expires_at, revoked_at, last_used_at, ip, user_agent,
                              created_at)
    SELECT md5('session-' || n)::uuid, 'api', coalesce(c.user_id, 1 + n % ${users})::text, '{pwd}', began,
           began + interval '30 days', CASE WHEN n % ${ENDED} = 0 THEN now() END, now(), '203.0.113.7',
           'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', began
      FROM generate_series(1, ${sessions}) n LEFT JOIN bench_crowd c USING (n),
           LATERAL (SELECT now() - (29 * (1 - n / ${sessions}::float8)) * interval '1 day' AS began) b`);
  await storeTokens(source, sessions);
  await source.query('VACUUM (FREEZE, ANALYZE)');
  await source.query('CHECKPOINT');
  const filled = await describe(source, sessions, wanted);
  await source.destroy();
  return { url, ...filled };
}

/** Which sessions belong to users with many: of those that live, anywhere in the table. */
async function crowd(source: DataSource, sessions: number, users: number, sizes: readonly number[], times: number) {
  await source.query('CREATE TABLE bench_crowd (n int PRIMARY KEY, user_id int NOT NULL, size int NOT NULL)');
  const people = Array.from({ length: times }, () => sizes)
    .flat()
    .map((size, i) => ({ size, id: users + 1 + i }));
  if (people.length === 0) return;
  const slots = people.flatMap(({ size, id }) => Array<number>(size).fill(id));
  const taken: { n: number }[] = await source.query(
    `SELECT n FROM generate_series(1, ${sessions}) n WHERE n % ${ENDED} <> 0 ORDER BY md5(n::text) LIMIT $1`,
    [slots.length],
  );
  if (taken.length < slots.length) throw new Error(`${slots.length} sessions to end do not fit into ${sessions}`);
  await source.query(
    `INSERT INTO bench_crowd SELECT n, id, count(*) OVER (PARTITION BY id) FROM unnest($1::int[], $2::int[]) x (n, id)`,
    [taken.map(({ n }) => n), slots],
  );
}

async function storeTokens(source: DataSource, sessions: number): Promise<void> {
  const runner = source.createQueryRunner();
  // Without a look at its session for each token, as their sessions are known to be there.
  await runner.query('SET session_replication_role = replica');
  for (let k = 1; k <= MOST_TOKENS; k++) {
    const token = `encode(sha256(('token-' || n || '-' || ${k})::bytea), 'hex')`;
    await runner.query(`
      INSERT INTO svc_refresh_tokens (family_id, token_hash, rotated_at, created_at)
      SELECT md5('session-' || n)::uuid, encode(sha256(${token}::bytea), 'hex'),
             CASE WHEN ${k} < 1 + n % ${MOST_TOKENS} THEN now() - interval '1 day' END, now() - interval '1 day'
        FROM generate_series(1, ${sessions}) n WHERE ${k} <= 1 + n % ${MOST_TOKENS}`);
  }
  await runner.query('RESET session_replication_role');
  await runner.release();
}

async function describe(source: DataSource, sessions: number, wanted: number): Promise<Omit<Filled, 'url'>> {
  const live: { n: number }[] = await source.query(
    `SELECT n FROM generate_series(1, ${sessions}) n LEFT JOIN bench_crowd c USING (n)
      WHERE n % ${ENDED} <> 0 AND c.n IS NULL ORDER BY random() LIMIT $1`,
    [wanted],
  );
  const crowds: { n: number; size: number }[] = await source.query(
    'SELECT min(n) AS n, size FROM bench_crowd GROUP BY user_id, size ORDER BY user_id',
  );
  const [{ mib }] = await source.query(`SELECT (pg_database_size(current_database()) / 1048576)::int AS mib`);
  const rows: Record<string, number> = {};
  for (const name of ['people', 'svc_sessions', 'svc_refresh_tokens'])
    rows[name] = Number((await source.query(`SELECT count(*) AS n FROM ${name}`))[0].n);
  return {
    sessions,
    rows,
    mib,
    tokens: live.map(({ n }) => tokenOf(n)),
    crowds: crowds.map(({ n, size }) => ({ size, token: tokenOf(n) })),
  };
}
