import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { TABLES } from '../../library-options';
import { metadataOf } from './entity';

const columnOf = ({ propertyName, databaseName, isPrimary }: ReturnType<typeof metadataOf>['columns'][number]) => ({
  propertyName,
  databaseName,
  isPrimary,
});

/** What the library reads of the metadata of an entity, of its own or of TypeORM's. */
const readOf = ({ tableName, tablePath, givenTableName, name, columns, indices }: ReturnType<typeof metadataOf>) => ({
  names: [tableName, tablePath, givenTableName, name],
  columns: columns.map(columnOf),
  paths: new Set(columns.map(({ entityMetadata }) => entityMetadata.tablePath)),
  indices: indices
    .map((index) => ({
      name: index.name,
      isUnique: index.isUnique,
      where: index.where,
      columns: index.columns.map(({ databaseName }) => databaseName),
    }))
    .toSorted((a, b) => (a.name! < b.name! ? -1 : 1)),
});

describe('the metadata of the tables of the library', () => {
  it.each(TABLES.map(({ entity }) => [entity.name, entity] as const))(
    'are those of TypeORM for %s',
    async (_, entity) => {
      const source = new DataSource({ type: 'postgres', entities: TABLES.map((table) => table.entity) });
      await (source as unknown as { buildMetadatas(): Promise<void> }).buildMetadatas();
      const ofTypeOrm = source.getMetadata(entity) as unknown as ReturnType<typeof metadataOf>;
      expect(readOf(metadataOf(entity))).toEqual(readOf(ofTypeOrm));
      expect(metadataOf(entity).columns.length).toBeGreaterThan(2);
    },
  );
});

describe('the sources of the library', () => {
  it('import only types of TypeORM, except where a host may not have it', () => {
    const folder = join(__dirname, '../..');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /(?<!spec|testkit)\.ts$/.test(file),
    );
    const values = /^import (?!type )[^;]*from 'typeorm(?:\/[^']*)?';$|require\('typeorm'\)/m;
    const loading = files.filter((file) => values.test(readFileSync(join(folder, file), 'utf8')));
    // The first loads it if it is there; the second writes the files of a new application.
    expect(loading.toSorted()).toEqual(['foundation/platform/optional-peer.ts', 'tools/cli/init.ts']);
  });
});
