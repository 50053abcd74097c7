import { AuthConfigError } from './errors';
import { optionalPeer } from './optional-peer';

type TypeOrm = typeof import('typeorm');

const typeOrm = optionalPeer<TypeOrm>('typeorm');

/** A column as the library reads it from its metadata, with the names of TypeORM. */
interface DeclaredColumn {
  readonly propertyName: string;
  readonly databaseName: string;
  readonly isPrimary: boolean;
}

interface DeclaredIndex {
  readonly name?: string;
  readonly properties: readonly string[];
  readonly unique?: boolean;
  readonly where?: string;
}

interface Declaration {
  table?: string;
  readonly columns: DeclaredColumn[];
  readonly indices: DeclaredIndex[];
}

/** What the decorators of this file have declared, by class. */
const declarations = new WeakMap<object, Declaration>();

function declarationOf(target: object): Declaration {
  const known = declarations.get(target) ?? { columns: [], indices: [] };
  declarations.set(target, known);
  return known;
}

type Decorator = (target: object, property?: string | symbol) => unknown;
type DecoratorName = 'Column' | 'Entity' | 'Index' | 'PrimaryColumn';

/**
 * A decorator of TypeORM that also declares for the library itself. Without the package `typeorm`, it only does the second.
 *
 * @param declare gets the arguments of the decorator
 */
const decorator = <Name extends DecoratorName>(
  name: Name,
  declare: (declaration: Declaration, given: readonly unknown[], property: string | undefined) => void,
): TypeOrm[Name] => {
  const make = (...given: unknown[]): Decorator => {
    const ofTypeOrm = (typeOrm?.[name] as ((...given: unknown[]) => Decorator) | undefined)?.(...given);
    return (target, property) => {
      declare(declarationOf(property === undefined ? target : target.constructor), given, property as string);
      ofTypeOrm?.(target, property);
    };
  };
  return make as unknown as TypeOrm[Name];
};

const column =
  (isPrimary: boolean) =>
  ({ columns }: Declaration, given: readonly unknown[], propertyName = ''): void => {
    const { name = propertyName } = Object(given.at(-1)) as { name?: string };
    columns.push({ propertyName, databaseName: name, isPrimary });
  };

/** The decorators of TypeORM for the entities of the library. It also knows its tables where TypeORM is not installed. */
export const Column = decorator('Column', column(false));
export const PrimaryColumn = decorator('PrimaryColumn', column(true));
export const Entity = decorator('Entity', (declaration, [table]) => {
  declaration.table = table as string;
});
export const Index = decorator('Index', ({ indices }, given, property) => {
  const name = given.find((value) => typeof value === 'string');
  const properties = property === undefined ? (given.find(Array.isArray) ?? []) : [property];
  const { unique, where } = Object(given.at(-1)) as { unique?: boolean; where?: string };
  indices.push({ name, properties, unique, where });
});

/** What a condition of TypeORM needs. Only a provider for an entity uses it, which is not made without TypeORM. */
export const { IsNull, Raw } = (typeOrm ?? {}) as Pick<TypeOrm, 'IsNull' | 'Raw'>;

/** The data source of TypeORM. @throws AuthConfigError where it is not installed */
export function typeOrmSource(): TypeOrm['DataSource'] {
  if (typeOrm) return typeOrm.DataSource;
  throw new AuthConfigError(
    'The users are an entity of TypeORM (users.entity), and the package typeorm is not installed. Run: npm install typeorm. ' +
      'Without TypeORM, set users.provider.',
  );
}

/** The members of the metadata of an entity that the library uses of its own tables, with the names of TypeORM. */
export function metadataOf(target: { readonly name: string }) {
  const { table = '', columns, indices } = declarationOf(target);
  const entityMetadata = { tablePath: table };
  const ownColumns = columns.map((one) => ({ ...one, isVirtualProperty: false, entityMetadata }));
  return {
    target,
    name: target.name,
    tableName: table,
    tablePath: table,
    givenTableName: table,
    listeners: [],
    columns: ownColumns,
    indices: indices.map(({ name, properties, unique = false, where }) => ({
      name,
      isUnique: unique,
      where,
      columns: properties.map((property) => ownColumns.find(({ propertyName }) => propertyName === property)!),
    })),
  };
}
