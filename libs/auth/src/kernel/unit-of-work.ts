import type { DataSource, EntityManager } from 'typeorm';
import { StoreUnavailable } from './auth.exception';
import { answered } from './unavailable';

/**
 * Runs `work`, host code among it, in one transaction; a throw rolls everything back. Unlike
 * `Database.transaction` it hands out TypeORM's manager, and runs once whatever happens.
 *
 * @param ms how long all of it, and each statement of it, may take
 */
export async function unitOfWork<T>(
  source: DataSource,
  ms: number,
  work: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  const runner = source.createQueryRunner();
  let awaited = true;
  const run = async (): Promise<T> => {
    await runner.connect();
    await runner.startTransaction('READ COMMITTED');
    try {
      await runner.query(`SET LOCAL statement_timeout = ${ms}`);
      const result = await work(runner.manager);
      // The caller was told 503: what it believes did not happen must not happen.
      if (!awaited) throw new StoreUnavailable('PostgreSQL');
      await runner.commitTransaction();
      return result;
    } catch (error) {
      // A connection that is gone has rolled back by itself.
      await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    }
  };
  try {
    return await answered(
      'PostgreSQL',
      ms,
      run().finally(() => runner.release().catch(() => undefined)),
    );
  } finally {
    awaited = false;
  }
}
