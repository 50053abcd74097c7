import { Client as Postgres, type QueryResult } from 'pg';
import type { DataSource } from 'typeorm';
import { eventually } from '../runtime/eventually';
import type { RedisClient } from './redis';

/** The key whose value is the continuity marker of a store in which the denylist is complete. */
export const COMPLETE = 'svc:dl:complete';

/** The key of the lease that a node holds while it writes denials. */
export const LEASE = 'svc:dl:lease';

/** The key under which a session is denied. */
export const deniedKey = (familyId: unknown): string => `svc:dl:fid:${String(familyId)}`;

/** The statement that reads a batch of ended sessions, in order to write their denials again. */
export const READS_BATCH = /SELECT id, revoked_at::text/;

/** Waits until no node writes denials or has denials to write. */
export const settled = (client: RedisClient): Promise<void> =>
  eventually(async () => {
    const [complete, lease, timelines] = await Promise.all([
      client.exists(COMPLETE),
      client.exists(LEASE),
      client.keys('svc:db:*'),
    ]);
    return complete === 1 && lease === 0 && timelines.length > 0;
  });

/** Empties Redis while a stopped node holds the lease, so that no node rebuilds the denylist. */
export async function emptyRedisWithoutRebuild(client: RedisClient): Promise<void> {
  await settled(client);
  await client.multi().flushAll().set(LEASE, 'a stopped node').exec();
}

/**
 * Stores sessions that were ended within the last `seconds`, as after many logouts.
 *
 * @returns their ids, in the order in which the sessions ended
 */
export async function storeEnded(database: DataSource, count: number, seconds = 600): Promise<string[]> {
  const rows: { id: string }[] = await database.query(
    `WITH stored AS (
       INSERT INTO svc_sessions (id, guard, user_id, salt, auth_time, expires_at, revoked_at, last_used_at, created_at)
       SELECT gen_random_uuid(), 'api', '1', '', now(), now() + interval '30 days',
              now() - (i * $2::float8 / $1) * interval '1 second', now(), now()
         FROM generate_series(1, $1::int) AS i
       RETURNING id, revoked_at)
     SELECT id FROM stored ORDER BY revoked_at, id`,
    [count, seconds],
  );
  // Without statistics of these rows, the planner may scan the table for each batch.
  await database.query('ANALYZE svc_sessions');
  return rows.map(({ id }) => id);
}

/** Runs `work` after each statement of a kind that this process sends, before the caller gets the result. */
export function onStatement(kind: RegExp, work: (result: QueryResult) => Promise<void>): void {
  const query = Postgres.prototype.query as (...args: unknown[]) => Promise<QueryResult>;
  jest.spyOn(Postgres.prototype, 'query').mockImplementation(function (this: Postgres, ...args: unknown[]) {
    const answer = query.apply(this, args);
    if (!kind.test(String(Object(args[0]).text ?? args[0]))) return answer;
    return answer.then(async (result) => {
      await work(result);
      return result;
    });
  } as never);
}
