import type { DataSource, EntityManager } from 'typeorm';
import { type Sql, giveBack, sqlOn, takeConnection } from './database';
import { StoreUnavailable } from './errors';
import { withTimeout } from './deadline';

/**
 * Runs `work`, which may contain host code, in one transaction. An error rolls the transaction back. Unlike
 * `Database.transaction`, it runs `work` exactly once, with the entity manager of TypeORM.
 *
 * @param ms timeout of the transaction and of each statement, in milliseconds
 */
export async function unitOfWork<T>(
  source: DataSource,
  ms: number,
  work: (sql: Sql, manager: EntityManager) => Promise<T>,
): Promise<T> {
  let isOver = false;
  // After the timeout the caller has received a 503. The transaction must not commit.
  const throwIfOver = (): void => {
    if (isOver) throw new StoreUnavailable('PostgreSQL');
  };
  const run = async (): Promise<T> => {
    const { runner, client } = await takeConnection(source, ms);
    let working = false;
    try {
      throwIfOver();
      await runner.startTransaction('READ COMMITTED');
      await runner.query(`SET LOCAL statement_timeout = ${ms}`);
      working = true;
      const result = await withTimeout(
        'PostgreSQL',
        ms,
        work(sqlOn(source, runner, client, false), runner.manager).finally(() => (working = false)),
      );
      // After a failed statement PostgreSQL executes COMMIT as ROLLBACK and reports no error. Host code may have caught
      // the error of the statement. In that case this query throws.
      await runner.query('SELECT 1');
      throwIfOver();
      await runner.commitTransaction();
      return result;
    } catch (error) {
      // Host code that still runs must not continue outside the transaction: its connection is closed.
      await (working ? client.end() : runner.rollbackTransaction()).catch(() => undefined);
      throw error;
    } finally {
      await giveBack({ runner, client });
    }
  };
  try {
    return await withTimeout('PostgreSQL', ms, run());
  } finally {
    isOver = true;
  }
}
