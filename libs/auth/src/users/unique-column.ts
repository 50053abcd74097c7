import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';

/** Whether an entity says that no two of its rows share a value of this column, those marked as deleted aside. */
export function isUnique(
  { primaryColumns, uniques, indices, deleteDateColumn }: EntityMetadata,
  property: string,
): boolean {
  const alone = (columns: ColumnMetadata[]): boolean => columns.length === 1 && columns[0]!.propertyName === property;
  const live = new RegExp(`^\\(?"?${deleteDateColumn?.databaseName}"? IS NULL\\)?$`, 'i');
  return (
    alone(primaryColumns) ||
    uniques.some(({ columns }) => alone(columns)) ||
    indices.some(({ isUnique: unique, columns, where }) => unique && alone(columns) && (!where || live.test(where)))
  );
}
