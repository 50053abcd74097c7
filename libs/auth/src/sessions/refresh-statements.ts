import type { Database } from '../kernel/database';
import { RefreshToken } from './refresh-token.entity';
import { Session } from './session.entity';

const LENGTH = '(SELECT json_array_length($1::json))';

/**
 * Rows out of the JSON in `$1`. Both limits cut nothing: of each the planner expects a tenth, and so looks up one token
 * after the other by index, also with a plan that was made while the tables were empty.
 */
const few = (rows: string): string => `(SELECT * FROM (${rows} LIMIT ${LENGTH}) r LIMIT ${LENGTH})`;

/** The SQL of rotation. Times are the database's, all of one statement read at once. */
export function refreshStatements(database: Database) {
  const [tokens, sessions] = [database.table(RefreshToken), database.table(Session)];
  const found = `
    SELECT t.id, t.scope, s.id AS "familyId", s.user_id AS "userId", s.amr,
           extract(epoch FROM t.rotated_at)::float8 AS "rotatedAt",
           extract(epoch FROM s.expires_at)::float8 AS "expiresAt",
           extract(epoch FROM s.revoked_at)::float8 AS "revokedAt",
           extract(epoch FROM s.auth_time)::float8 AS "authTime",
           extract(epoch FROM clock_timestamp() + $3::interval)::float8 AS now`;

  const succeed = (stamp: string, live: string): string => `
    WITH moment AS MATERIALIZED (SELECT clock_timestamp() + $5::interval AS now), ${stamp}
         used AS (UPDATE ${sessions} SET last_used_at = (SELECT now FROM moment) WHERE id = $1)
    INSERT INTO ${tokens} (family_id, token_hash, previous_id, scope, created_at)
    VALUES ($1, $3, $2, $4, (SELECT now FROM moment))
    RETURNING scope IS NOT DISTINCT FROM $4 AS kept, ${live} AS live`;
  const stamp = `stamped AS (UPDATE ${tokens} SET rotated_at = (SELECT now FROM moment) WHERE id = $2),`;
  const others = `(SELECT count(*)::int FROM ${tokens} WHERE family_id = $1 AND rotated_at IS NULL)`;

  return {
    findAll: `${found}, t.token_hash AS hash
      FROM ${few('SELECT value AS hash FROM json_array_elements_text($1::json)')} a
      JOIN ${tokens} t ON t.token_hash = a.hash JOIN ${sessions} s ON s.id = t.family_id
     WHERE s.guard = $2`,
    // The session first: revocation and pruning lock it too, and only in one order can nobody deadlock.
    findLocked: `${found}
      FROM ${tokens} t JOIN ${sessions} s ON s.id = t.family_id
     WHERE t.token_hash = $1 AND s.guard = $2 FOR UPDATE OF s, t`,
    succeedFirst: succeed(stamp, '1'),
    // A sibling leaves its parent's stamp alone: moved, the grace window would slide for ever.
    succeedSibling: succeed('', `${others} + 1`),
    // JSON and not arrays: their length would be the planner's reason to plan anew for every call.
    exchangeAll: `
    WITH moment AS MATERIALIZED (SELECT clock_timestamp() + $3::interval AS now),
         -- Of a session one token at a time: what the second one deserves depends on the first.
         asked AS MATERIALIZED (SELECT * FROM ${few(`
           SELECT DISTINCT ON ("familyId") *
             FROM json_to_recordset($1::json) AS a (id bigint, "familyId" uuid, scope text, successor text, until float8)
            ORDER BY "familyId"`)} a),
         -- All that "first" was judged by still holds. What anybody else has locked is theirs to change. Each is looked up
         -- by itself, whatever the planner thinks of the size of JSON.
         held AS MATERIALIZED (
           SELECT f.*, a.successor, m.now
             FROM moment m, asked a, LATERAL (
               SELECT t.id, t.family_id, t.scope
                 FROM ${tokens} t JOIN ${sessions} s ON s.id = t.family_id
                WHERE t.id = a.id AND s.guard = $2 AND t.scope IS NOT DISTINCT FROM a.scope
                  AND t.rotated_at IS NULL AND s.revoked_at IS NULL AND s.expires_at >= m.now
                  AND extract(epoch FROM m.now) < a.until
                  FOR UPDATE OF s, t SKIP LOCKED) f),
         stamped AS (UPDATE ${tokens} t SET rotated_at = h.now FROM held h WHERE t.id = h.id),
         used AS (UPDATE ${sessions} s SET last_used_at = h.now FROM held h WHERE s.id = h.family_id)
    INSERT INTO ${tokens} (family_id, token_hash, previous_id, scope, created_at)
    SELECT family_id, successor, id, scope, now FROM held
    RETURNING token_hash AS successor`,
  };
}
