import type { DataSource, EntityManager } from 'typeorm';
import { StoreUnavailable } from './errors';
import { withTimeout } from './deadline';

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
  // The caller was told 503: what it believes did not happen must not happen.
  const stillAwaited = (): void => {
    if (!awaited) throw new StoreUnavailable('PostgreSQL');
  };
  const run = async (): Promise<T> => {
    const client: { end(): Promise<void> } = await runner.connect();
    let working = false;
    try {
      stillAwaited();
      await runner.startTransaction('READ COMMITTED');
      await runner.query(`SET LOCAL statement_timeout = ${ms}`);
      working = true;
      const result = await withTimeout(
        'PostgreSQL',
        ms,
        work(runner.manager).finally(() => (working = false)),
      );
      // PostgreSQL turns the COMMIT after a failed statement into a ROLLBACK without a word, and host code may have
      // swallowed the error. This throws then.
      await runner.query('SELECT 1');
      stillAwaited();
      await runner.commitTransaction();
      return result;
    } catch (error) {
      // Host code that is still at work must not go on outside the transaction: its connection ends with it.
      await (working ? client.end() : runner.rollbackTransaction()).catch(() => undefined);
      throw error;
    }
  };
  try {
    return await withTimeout(
      'PostgreSQL',
      ms,
      run().finally(() => runner.release().catch(() => undefined)),
    );
  } finally {
    awaited = false;
  }
}
