import type { DataSource, EntityTarget, ObjectLiteral, QueryRunner } from 'typeorm';
import { AuthConfigError, StoreUnavailable } from './auth.exception';
import { answered } from './unavailable';

/** Runs one statement and returns its rows. */
export type Sql = <Row = Record<string, unknown>>(statement: string, params?: unknown[]) => Promise<Row[]>;

/**
 * The one door to PostgreSQL for the library's own tables.
 *
 * Statements are written out, because a lock, a snapshot and a clock read are what they are about.
 * An unreachable database becomes `StoreUnavailable` here and nowhere else.
 */
export class Database {
  constructor(
    private readonly dataSource: DataSource | undefined,
    private readonly timeoutMs: number,
  ) {}

  /** The host's connection. @throws AuthConfigError when the host has none */
  get source(): DataSource {
    if (!this.dataSource) {
      throw new AuthConfigError('No TypeORM DataSource found. Import TypeOrmModule.forRoot() beside AuthModule.');
    }
    return this.dataSource;
  }

  /** The quoted table of an entity, so that schema and naming strategy of the host hold. */
  table(entity: EntityTarget<ObjectLiteral>): string {
    const path = this.source.getMetadata(entity).tablePath;
    return path.replace(/[^.]+/g, (part) => `"${part.replace(/"/g, '""')}"`);
  }

  query: Sql = (statement, params = []) => this.connected((runner) => statementOn(runner)(statement, params));

  /** Runs `work` in one transaction on one connection; a throw rolls everything back. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.connected(async (runner, late) => {
      await runner.startTransaction();
      try {
        const result = await work(statementOn(runner));
        // The caller was already told 503: what it believes did not happen must not happen.
        if (late()) throw new StoreUnavailable('PostgreSQL');
        await runner.commitTransaction();
        return result;
      } catch (error) {
        // A connection that died has nothing to roll back; the first error is the one that matters.
        await runner.rollbackTransaction().catch(() => undefined);
        throw error;
      }
    });
  }

  private async connected<T>(work: (runner: QueryRunner, late: () => boolean) => Promise<T>): Promise<T> {
    let answeredInTime = true;
    const runner = this.source.createQueryRunner();
    const done = work(runner, () => !answeredInTime).finally(() => runner.release().catch(() => undefined));
    try {
      return await answered('PostgreSQL', this.timeoutMs, done);
    } catch (error) {
      answeredInTime = false;
      throw error;
    }
  }
}

const statementOn =
  (runner: QueryRunner): Sql =>
  async (statement, params = []) =>
    (await runner.query(statement, params, true)).records;
