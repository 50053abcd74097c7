import type { EntityMetadata } from 'typeorm';
import { isUnique } from './typeorm-accounts';

const withIndex = (where: string | undefined, deletedAt?: string): EntityMetadata =>
  ({
    primaryColumns: [],
    uniques: [],
    indices: [{ isUnique: true, columns: [{ propertyName: 'email' }], where }],
    deleteDateColumn: deletedAt === undefined ? undefined : { databaseName: deletedAt },
  }) as unknown as EntityMetadata;

describe('a column with a unique index', () => {
  it.each<[string, string | undefined, string | undefined, boolean]>([
    ['on all rows', undefined, undefined, true],
    ['on all rows, with a soft delete', undefined, 'deleted_at', true],
    ['on rows that are not deleted', 'deleted_at IS NULL', 'deleted_at', true],
    ['on rows that are not deleted, quoted', '"deleted_at" IS NULL', 'deleted_at', true],
    ['on rows that are not deleted, in brackets and lower case', '("deleted_at" is null)', 'deleted_at', true],
    ['on rows that are not deleted, by a name with a dot', '"deleted.at" IS NULL', 'deleted.at', true],
    ['on rows that are not deleted, by a name with a bracket', '"deleted(at" IS NULL', 'deleted(at', true],
    ['on rows that are not deleted, by a name with a quotation mark', '"deleted""at" IS NULL', 'deleted"at', true],
    ['on rows with a condition on a column of a similar name', '"deletedXat" IS NULL', 'deleted.at', false],
    ['on rows with another condition', "name <> 'guest'", 'deleted_at', false],
    ['on rows with a condition, without a soft delete', 'undefined IS NULL', undefined, false],
  ])('%s', (_, where, deletedAt, unique) => {
    expect(isUnique(withIndex(where, deletedAt), 'email')).toBe(unique);
    expect(isUnique(withIndex(where, deletedAt), 'name')).toBe(false);
  });
});
