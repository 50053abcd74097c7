import type { Database } from '../../foundation/platform/database';
import type { RecentChange } from './rotation.policy';
import { Session } from './session.entity';

/** Maximum number of sessions that one statement ends. */
export const PAGE = 500;

const LENGTH = '(SELECT json_array_length($1::json))';

/**
 * Reads the rows of the JSON in `$1`. The limits remove no row. They make the planner expect few rows, so it looks up each
 * row by index, also with a plan that was made when the tables were empty. JSON is used because with an array, whose
 * length changes, the planner would make a new plan for every call.
 */
const few = (rows: string): string => `(SELECT * FROM (${rows} LIMIT ${LENGTH}) r LIMIT ${LENGTH})`;

const now = (parameter: string): string => `clock_timestamp() + ${parameter}::interval`;
/** Seconds since 1970 as a float8. Not `extract`, whose numeric costs PostgreSQL 20 % of the processor time of a refresh. */
export const epoch = (column: string): string => `date_part('epoch', ${column})`;
/** `idleTimeoutOf` of the policy in SQL: `least` ignores nulls. The parameter is `sessions.idleTimeout`, or null for none. */
const idleTimeout = (parameter: string): string => `least(${parameter}::int, s.idle_timeout)`;

/** The end of the idle time of a session `s`; null for none. */
const idleAt = (parameter: string): string => `(s.last_used_at + ${idleTimeout(parameter)} * interval '1 second')`;

/** `endOfSession` of the policy in SQL, for a session `s`. */
export const endOf = (parameter: string): string => `least(s.expires_at, ${idleAt(parameter)})`;

const ROW = `s.id, s.user_id AS "userId", s.amr, s.ip, s.user_agent AS "userAgent"`;

/**
 * Erases a row that ended at `end`, except its id, its guard and that time. The row remains for the maximum lifetime of an
 * access token.
 */
const erased = (end: string): string => `
  user_id = '', salt = '', scope = NULL, amr = '{}', recent = '{}', late_generation = NULL, generation = 0, holders = 0, ip = NULL,
  user_agent = NULL, label = NULL, credential_id = NULL, origin = NULL, origin_session = NULL, jkt = NULL, idle_timeout = NULL, remembered = true, auth_time = ${end}, last_used_at = ${end},
  created_at = ${end}, expires_at = ${end}`;

/** A change of a session by a refresh. */
export interface Exchange extends RecentChange {
  id: string;
  /** The generation that was read. */
  seen: number;
  /** The late generation that was read. */
  late: number | null;
  /** The new generation; unchanged without a rotation. */
  generation: number;
  /** Added to the holders of the current token. */
  more: number;
  /** Whether the new generation is returned for a late repetition. */
  isLate: boolean;
  /** The thumbprint of the key that the sender has proved; null where the session is bound to none. */
  jkt: string | null;
  /** Latest time of the response to the client, by the database's clock. */
  until: number;
}

export type SessionStatements = ReturnType<typeof sessionStatements>;

/**
 * Makes the SQL statements of sessions. Times are from the database's clock, read once per statement.
 *
 * @param hasUser an SQL condition: whether the user of the session `s` exists; null where the statement cannot know
 */
export function sessionStatements(database: Database, hasUser: string | null) {
  const sessions = database.table(Session);

  /**
   * Makes the conditional statement of a refresh. It changes a session only if the state that `refreshVerdict` decided on is
   * unchanged. $1 changes, $2 guard, $3 offset, $4 idle time. Of two concurrent changes of one session, one is made. Each session is
   * looked up separately, independent of the planner's estimate for the JSON. The time is read after the row lock is
   * acquired.
   *
   * The commit does not wait for a standby. A rotation that is lost in a failover is recovered (`ahead`), but a commit that
   * waits longer than the grace period would make the repeated request a reuse.
   */
  const exchange = (lock: string): string => `
    WITH local AS MATERIALIZED (
           SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')
                             WHEN 'off' THEN 'off' ELSE 'local' END, true) AS waits),
         asked AS MATERIALIZED (SELECT * FROM ${few(`
           SELECT * FROM json_to_recordset($1::json)
             AS a (n int, id uuid, seen int, late int, generation int, more int, dropped int, added int, until float8, jkt text, "isLate" boolean)`)} a),
         held AS MATERIALIZED (
           SELECT a.*, ${now('$3')} AS now
             FROM local, asked a, LATERAL (
               SELECT s.id FROM ${sessions} s
                WHERE s.id = a.id AND s.guard = $2 AND s.generation = a.seen AND s.late_generation IS NOT DISTINCT FROM a.late
                  AND s.jkt IS NOT DISTINCT FROM a.jkt
                  AND s.revoked_at IS NULL
                  AND ${endOf('$4')} >= ${now('$3')}
                  FOR UPDATE ${lock}) f)
    UPDATE ${sessions} s
       SET generation = h.generation, holders = CASE WHEN h.added > 0 AND NOT h."isLate" THEN 1 ELSE s.holders + h.more END,
           recent = s.recent[h.dropped + 1:] || array_fill(h.now, ARRAY[h.added]), last_used_at = h.now,
           late_generation = CASE WHEN h."isLate" THEN h.generation ELSE s.late_generation END
      FROM held h WHERE s.id = h.id AND ${epoch('h.now')} < h.until
    RETURNING h.n, s.holders`;

  /**
   * Makes a statement that changes a page of sessions. $1 guard, $2 offset; the other parameters are those of `page`. One
   * result row has the size of the page and its last session, the first one in the order `last`; the other rows are the
   * changed sessions that were live.
   *
   * Rows are looked up by an array of ids, not by a join. With outdated statistics, the planner may scan the whole table:
   * once for an array, but once for each row of a join.
   */
  const paged = (page: string, set: string, which: string, last = 'created_at, id'): string => `
    WITH moment AS MATERIALIZED (SELECT ${now('$2')} AS now),
         page AS MATERIALIZED (${page}),
         locked AS MATERIALIZED (
           SELECT ${ROW}, s.revoked_at IS NULL AS live FROM ${sessions} s
            WHERE s.id = ANY(ARRAY(SELECT id FROM page)) ORDER BY s.id FOR UPDATE),
         changed AS (
           UPDATE ${sessions} s SET ${set} FROM moment WHERE s.id = ANY(ARRAY(SELECT id FROM locked WHERE ${which})))
    SELECT * FROM (
      SELECT id, user_id AS "userId", '{}'::text[] AS amr, NULL AS ip, NULL AS "userAgent",
             (SELECT count(*)::int FROM page) AS size, created_at::text AS "createdAt"
        FROM page ORDER BY ${last} LIMIT 1) AS summary
    UNION ALL SELECT id, "userId", amr, ip, "userAgent", 0, '' FROM locked WHERE live AND ${which}`;

  const find = (existence: string): string => `
    SELECT s.id AS "familyId", s.user_id AS "userId", s.salt, s.scope, s.amr, s.generation, s.holders, s.ip, s.jkt,
           s.user_agent AS "userAgent", array_to_json(ARRAY(SELECT ${epoch('t')} FROM unnest(s.recent) AS t)) AS recent,
           s.late_generation AS "lateGeneration",
           ${epoch('s.expires_at')} AS "expiresAt", ${epoch('s.revoked_at')} AS "revokedAt",
           ${epoch('s.last_used_at')} AS "lastUsedAt", ${idleTimeout('$4')} AS "idleTimeout", s.remembered,
           ${epoch('s.auth_time')} AS "authTime", ${epoch(`(${now('$3')})`)} AS now,
           ${existence} AS "hasUser"
      FROM ${few('SELECT value::uuid AS id FROM json_array_elements_text($1::json)')} a,
           LATERAL (SELECT * FROM ${sessions} one WHERE one.id = a.id AND one.guard = $2 LIMIT 1) s`;

  const insertBeside = (besides: readonly string[]): string => `
    WITH moment AS MATERIALIZED (SELECT ${now('$18')} AS now)${besides.map((beside, n) => `, beside${n} AS (${beside})`).join('')}
    INSERT INTO ${sessions} (id, guard, user_id, salt, scope, amr, auth_time, expires_at, last_used_at, ip, user_agent, label,
                             idle_timeout, remembered, credential_id, origin, origin_session, jkt, created_at)
    SELECT $1, $2, $3, $4::bytea, $5, $6::text[], coalesce(to_timestamp($7::float8), now),
           now + $8 * interval '1 second', now, $9, $10, $11, $12, $13, $14, $15, $16, $17, now
      FROM moment
    RETURNING scope IS NOT DISTINCT FROM $5 AS kept, floor(${epoch('auth_time')}) AS "authTime"`;

  // Sessions with pinned abilities belong to machines and integrations: they do not count for the cap and are not ended by it.
  // $1 guard, $2 user, $3 cap, $4 offset, $5 idle time.
  const counted = `s.guard = $1 AND s.user_id = $2 AND s.revoked_at IS NULL AND s.scope IS NULL AND ${endOf('$5')} >= ${now('$4')}`;

  const endOne = (condition: string): string => `
      UPDATE ${sessions} s SET revoked_at = ${now('$3')}
       WHERE s.id = $1 AND s.guard = $2 AND s.revoked_at IS NULL ${condition} RETURNING ${ROW}`;

  // Also a session whose idle time is over, although no refresh has found it yet. $3 offset, $4 idle time.
  const ended = `
    SELECT s.revoked_at IS NOT NULL OR ${idleAt('$4')} < ${now('$3')} IS TRUE AS ended
      FROM ${sessions} s WHERE s.id = $1 AND s.guard = $2`;

  return {
    find: find('NULL::boolean'),
    findWithUser: find(hasUser ?? 'NULL::boolean'),
    isFound: `EXISTS (SELECT FROM ${sessions} WHERE id = ANY($1::uuid[]) AND guard = $2)`,
    // Shared by several requests, so it does not wait for locks: one locked session would delay all others.
    exchangeJoined: exchange('SKIP LOCKED'),
    exchangeOne: exchange(''),
    insert: insertBeside([]),
    insertBeside,
    isOverCap: `
      SELECT count(*) > $3 AS over FROM ${sessions} s WHERE ${counted}`,
    // Rows are locked in the same order as by the end of all sessions, to avoid deadlocks.
    endOverCap: `
      WITH moment AS MATERIALIZED (SELECT ${now('$4')} AS now),
           live AS MATERIALIZED (SELECT id, last_used_at FROM ${sessions} s WHERE ${counted}),
           surplus AS MATERIALIZED (
             SELECT id FROM live WHERE id <> $6 ORDER BY last_used_at, id
              LIMIT least(${PAGE}, greatest(0, (SELECT count(*) FROM live) - $3))),
           locked AS MATERIALIZED (
             SELECT id FROM ${sessions} WHERE id = ANY(ARRAY(SELECT id FROM surplus)) AND revoked_at IS NULL
              ORDER BY id FOR UPDATE)
      UPDATE ${sessions} s SET revoked_at = moment.now FROM moment WHERE s.id = ANY(ARRAY(SELECT id FROM locked))
      RETURNING ${ROW}`,
    discard: `DELETE FROM ${sessions} s WHERE s.id = $1 AND s.guard = $2 AND s.user_id <> '' RETURNING ${ROW}, s.revoked_at IS NULL AS live`,
    endOne: endOne(''),
    // Judged after the row lock is acquired: a request may have used the session in its last moment.
    endOver: endOne(`AND ${endOf('$4')} < ${now('$3')}`),
    // Not in one statement with endOne: distributed databases do not modify a table twice in one statement.
    noteEnd: `
      INSERT INTO ${sessions} AS s (id, guard, user_id, salt, auth_time, expires_at, revoked_at, last_used_at, created_at)
      SELECT $1, $2, '', '', now, now, now, now, now FROM (SELECT ${now('$3')} AS now) moment
      ON CONFLICT (id) DO NOTHING RETURNING ${ROW}`,
    endPage: paged(
      `(SELECT id, user_id, created_at FROM ${sessions}
         WHERE guard = $1 AND user_id = $5 AND revoked_at IS NULL AND NOT id = ANY($6::uuid[])
           AND ($8::text IS NULL OR credential_id = $8)
           AND ($9::text IS NULL OR origin = $9) AND ($10::text IS NULL OR coalesce(origin_session, $10) = $10)
           AND (created_at, id) < ($3::timestamptz, $4::uuid)
         ORDER BY created_at DESC, id DESC LIMIT ${PAGE})
       UNION ALL
       SELECT id, user_id, created_at FROM ${sessions} WHERE id = $7::uuid AND guard = $1 AND user_id = $5 AND revoked_at IS NULL
       LIMIT ${PAGE}`,
      'revoked_at = moment.now',
      'live',
    ),
    // Each page begins after the previous one. From the start of the index it would read the entries of all sessions that
    // have ended before, which remain there until a vacuum.
    endPageOfGuard: paged(
      `SELECT id, user_id, created_at FROM ${sessions}
        WHERE guard = $1 AND revoked_at IS NULL AND (user_id, created_at, id) > ($3, $4::timestamptz, $5::uuid)
        ORDER BY user_id, created_at, id LIMIT ${PAGE}`,
      'revoked_at = moment.now',
      'live',
      'user_id DESC, created_at DESC, id DESC',
    ),
    // The session $6 is locked with each page. A page of one deletion that has ended the session of another one ends that
    // deletion, because its pages change nothing any more. A session without a row is that of a co-issuer.
    endOthersPage: paged(
      `(SELECT id, user_id, created_at FROM ${sessions}
         WHERE guard = $1 AND user_id = $5 AND revoked_at IS NULL AND id IS DISTINCT FROM $6::uuid
           AND (created_at, id) < ($3::timestamptz, $4::uuid)
         ORDER BY created_at DESC, id DESC LIMIT ${PAGE})
       UNION ALL
       SELECT id, user_id, created_at FROM ${sessions} WHERE id = $6::uuid AND guard = $1 AND user_id = $5 AND revoked_at IS NULL`,
      'revoked_at = moment.now',
      `live AND id IS DISTINCT FROM $6::uuid
       AND (EXISTS (SELECT FROM locked own WHERE own.id = $6::uuid AND own.live)
         OR NOT EXISTS (SELECT FROM ${sessions} own WHERE own.id = $6::uuid))`,
      'id IS NOT DISTINCT FROM $6::uuid, created_at, id',
    ),
    // Only ended sessions, by their own index: the index of live sessions contains those that ended since the last vacuum.
    erasePage: paged(
      `SELECT id, user_id, created_at FROM ${sessions}
        WHERE guard = $1 AND user_id = $5 AND revoked_at IS NOT NULL AND (created_at, id) < ($3::timestamptz, $4::uuid)
        ORDER BY created_at DESC, id DESC LIMIT ${PAGE}`,
      erased('s.revoked_at'),
      'true',
    ),
    // Two sub-selects, because live and ended sessions have an index each.
    eraseRest: `
      WITH moment AS MATERIALIZED (SELECT ${now('$2')} AS now),
           locked AS MATERIALIZED (
             SELECT ${ROW}, s.revoked_at IS NULL AS live FROM ${sessions} s WHERE s.id = ANY(ARRAY(
               SELECT id FROM ${sessions} WHERE guard = $1 AND user_id = $3 AND revoked_at IS NULL
               UNION ALL
               SELECT id FROM ${sessions} WHERE guard = $1 AND user_id = $3 AND revoked_at IS NOT NULL))
              ORDER BY s.id FOR UPDATE),
           changed AS (
             UPDATE ${sessions} s
                SET revoked_at = coalesce(s.revoked_at, moment.now), ${erased('coalesce(s.revoked_at, moment.now)')}
               FROM moment WHERE s.id = ANY(ARRAY(SELECT id FROM locked)))
      SELECT id, "userId", amr, ip, "userAgent" FROM locked WHERE live`,
    hasEnded: ended,
    // An end of the session waits until the transaction is over, also where an advisory lock has no effect.
    hasEndedLocked: `${ended} FOR SHARE`,
    ofOriginSession: `
      SELECT DISTINCT user_id AS "userId", origin FROM ${sessions}
       WHERE guard = $1 AND origin_session = $2 AND revoked_at IS NULL`,
    originOf: `SELECT origin FROM ${sessions} WHERE id = $1 AND guard = $2`,
    isPinned: `SELECT 1 FROM ${sessions} WHERE id = $1 AND guard = $2 AND scope IS NOT NULL`,
  };
}
