import type { EntityTarget, ObjectLiteral } from 'typeorm';
import type { Database } from '../kernel/database';

/** Whether the tables of some entities lack a column, or are not there at all: a migration has not run. */
export async function lacksColumns(
  database: Database,
  entities: readonly EntityTarget<ObjectLiteral>[],
): Promise<boolean> {
  const wanted = entities.flatMap((entity) =>
    database.source
      .getMetadata(entity)
      .columns.map(({ databaseName }) => [database.table(entity), databaseName] as const),
  );
  const missing = await database.query(
    `SELECT 1 FROM unnest($1::text[], $2::text[]) AS wanted (relation, attribute)
      WHERE NOT EXISTS (SELECT 1 FROM pg_attribute
        WHERE attrelid = to_regclass(relation) AND attname = attribute AND NOT attisdropped) LIMIT 1`,
    [wanted.map(([table]) => table), wanted.map(([, column]) => column)],
  );
  return missing.length > 0;
}
