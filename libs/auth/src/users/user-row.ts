import type { DataSource, EntityMetadata } from 'typeorm';
import { sha256 } from '../kernel/secrets';

// A prepared statement that a migration (0A000) or a connection pooler (26000, 42P05) took from under us.
const STALE = new Set(['0A000', '26000', '42P05']);

/** Runs one prepared statement; node-postgres' pool and client have this shape. */
interface Preparing {
  query(config: { name?: string; text: string; values: unknown[] }): Promise<{ rows: Record<string, unknown>[] }>;
}

/**
 * Reads one row by id as a prepared statement and makes it the entity that `findOneBy` would return.
 *
 * It exists for the guarded request: TypeORM builds and parses a query for every call, which costs
 * several times the query itself. Undefined where an entity needs more than its own columns
 * (eager relations, inheritance, load listeners, another driver): the caller then asks the repository.
 */
export function rowReader(
  source: DataSource,
  metadata: EntityMetadata,
): ((id: string) => Promise<object | null>) | undefined {
  const pool = (source.driver as { master?: Preparing }).master;
  const [primary, ...compound] = metadata.primaryColumns;
  const plain =
    source.options.type === 'postgres' &&
    pool !== undefined &&
    primary !== undefined &&
    !compound.length &&
    !metadata.eagerRelations.length &&
    !metadata.relationIds.length &&
    !metadata.inheritancePattern &&
    !metadata.embeddeds.length &&
    !metadata.afterLoadListeners.length &&
    !source.subscribers.some((subscriber) => subscriber.afterLoad) &&
    !metadata.columns.some((column) => column.isVirtualProperty || column.query);
  if (!plain) return undefined;

  const { driver } = source;
  const columns = metadata.columns.filter((column) => column.isSelect);
  const quoted = columns.map((column) => driver.escape(column.databaseName)).join(', ');
  const table = metadata.tablePath
    .split('.')
    .map((part) => driver.escape(part))
    .join('.');
  const live = metadata.deleteDateColumn ? ` AND ${driver.escape(metadata.deleteDateColumn.databaseName)} IS NULL` : '';
  const text = `SELECT ${quoted} FROM ${table} WHERE ${driver.escape(primary.databaseName)} = $1${live}`;
  // The name is the statement: two tables of one name in two schemas stay apart.
  const name = `svc-user-${sha256(text).slice(0, 16)}`;

  return async (id) => {
    const { rows } = await pool.query({ name, text, values: [id] }).catch((error: { code?: string }) => {
      if (!STALE.has(error.code ?? '')) throw error;
      return pool.query({ text, values: [id] });
    });
    const [row] = rows;
    if (!row) return null;
    const entity = metadata.create();
    for (const column of columns) {
      column.setEntityValue(entity, driver.prepareHydratedValue(row[column.databaseName], column));
    }
    return entity;
  };
}
