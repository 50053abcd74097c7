import type { EntityMetadata, EntityTarget, ObjectLiteral } from 'typeorm';
import type { Database } from '../../foundation/platform/database';
import type { UserRows } from '../../foundation/realm/user-source';

/**
 * Reads which rows of which table the entities of users are. Two classes can be entities of one table. An entity that the
 * data source does not know is refused when its provider is made.
 */
export const rowsIn =
  (database: Database) =>
  (entity: EntityTarget<ObjectLiteral>): UserRows => {
    if (!database.hasEntity(entity)) return { table: entity, types: null };
    const { source } = database;
    const metadata = source.getMetadata(entity);
    const { schema, tableName } = source.driver.parseTableName(metadata);
    return { table: JSON.stringify([schema, tableName]), types: typesOf(metadata) };
  };

/** The root of an inheritance reads all rows; each type reads its own rows and those of the types below it. */
function typesOf(metadata: EntityMetadata): unknown[] | null {
  if (metadata.tableType !== 'entity-child') return null;
  return [metadata, ...metadata.childEntityMetadatas].map(({ discriminatorValue }) => discriminatorValue);
}
