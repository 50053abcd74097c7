import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { batched } from '../kernel/batched';
import { sha256 } from '../kernel/secrets';

type Row = Record<string, unknown>;

/** Runs one prepared statement; node-postgres' pool and client have this shape. */
interface Preparing {
  query(config: { name?: string; text: string; values: unknown[] }): Promise<{ rows: Row[] }>;
}

// A prepared statement that a migration (0A000) or a connection pooler (26000, 42P05) took from under us.
const STALE = new Set(['0A000', '26000', '42P05']);

/**
 * Reads a row by id and makes it the entity that `findOneBy` would return.
 *
 * It exists for the guarded request: TypeORM builds and parses a query for every call, which costs
 * several times the query itself. Here the statement is prepared once, and requests that arrive together
 * are answered by one. Undefined where an entity needs more than its own columns (eager relations,
 * inheritance, load listeners, another driver): the caller then asks the repository.
 */
export function rowReader(
  source: DataSource,
  metadata: EntityMetadata,
): ((id: string) => Promise<object | null>) | undefined {
  const pool = (source.driver as { master?: Preparing }).master;
  const [primary] = metadata.primaryColumns;
  if (!pool || !primary || !isPlain(source, metadata)) return undefined;

  const columns = metadata.columns.filter((column) => column.isSelect);
  const rows = rowsById(source, metadata, primary, columns, pool);
  const read = batched<Row | null>(async (ids) => {
    const found = new Map((await rows([...new Set(ids)])).map((row) => [String(row[KEY]), row]));
    // Two requests of one user share no value that either could change.
    return ids.map((id, i) =>
      ids.indexOf(id) === i ? (found.get(id) ?? null) : structuredClone(found.get(id) ?? null),
    );
  });
  return async (id) => {
    const row = await read(id);
    return row && hydrate(source, metadata, columns, row);
  };
}

/** The id in the one spelling PostgreSQL writes it in: a subject "07" finds no user 7. */
const KEY = 'svc_key';

function rowsById(
  source: DataSource,
  metadata: EntityMetadata,
  primary: ColumnMetadata,
  columns: ColumnMetadata[],
  pool: Preparing,
): (ids: string[]) => Promise<Row[]> {
  const quote = (name: string): string => source.driver.escape(name);
  const id = quote(primary.databaseName);
  const table = metadata.tablePath.split('.').map(quote).join('.');
  const selected = columns.map((column) => quote(column.databaseName)).join(', ');
  const live = metadata.deleteDateColumn ? ` AND ${quote(metadata.deleteDateColumn.databaseName)} IS NULL` : '';
  const text = `SELECT ${selected}, ${id}::text AS ${KEY} FROM ${table} WHERE ${id} = ANY($1)${live}`;
  // The name is the statement: two tables of one name in two schemas stay apart.
  const name = `svc-user-${sha256(text).slice(0, 16)}`;

  return async (ids) => {
    const { rows } = await pool.query({ name, text, values: [ids] }).catch((error: { code?: string }) => {
      if (!STALE.has(error.code ?? '')) throw error;
      return pool.query({ text, values: [ids] });
    });
    return rows;
  };
}

/** Every caller gets an entity of its own, though the row may have been read for several. */
function hydrate(source: DataSource, metadata: EntityMetadata, columns: ColumnMetadata[], row: Row): object {
  const entity = metadata.create();
  for (const column of columns) {
    column.setEntityValue(entity, source.driver.prepareHydratedValue(row[column.databaseName], column));
  }
  return entity;
}

const isPlain = (source: DataSource, metadata: EntityMetadata): boolean =>
  source.options.type === 'postgres' &&
  metadata.primaryColumns.length === 1 &&
  !metadata.eagerRelations.length &&
  !metadata.relationIds.length &&
  !metadata.inheritancePattern &&
  !metadata.embeddeds.length &&
  !metadata.afterLoadListeners.length &&
  !source.subscribers.some((subscriber) => subscriber.afterLoad) &&
  !metadata.columns.some((column) => column.isVirtualProperty || column.query);
