import { Client as Postgres, type QueryResult } from 'pg';
import type { RedisClient } from './redis';

/** The key that names the epoch of the last finished rebuild. */
export const LATEST = 'svc:dl:epoch';

/** The key of the process that is rebuilding. */
export const LEASE = 'svc:dl:rebuild';

/** Whether the denylist in Redis is complete again. A rebuild that ends after the next loss names an epoch that is lost, too. */
export async function isRebuilt(client: RedisClient): Promise<boolean> {
  const latest = await client.get(LATEST);
  return latest !== null && (await client.exists(`${LATEST}:${latest}`)) === 1;
}

/** Does something after each statement of a kind that this process sends, before its sender has the result. */
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
