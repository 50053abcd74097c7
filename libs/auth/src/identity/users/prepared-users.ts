import type { DataSource, EntityMetadata, ObjectLiteral, Repository } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { batchPerTick } from '../../foundation/platform/batching';
import { type Database, quoted, quotedPath } from '../../foundation/platform/database';
import { once } from '../../foundation/platform/sweep';
import type { StoredCredentials } from '../../foundation/ports/user-provider';
import { endedAmong } from '../denylist/ended-sessions';

/** A row as the driver returns it, by the names of its columns. */
export type Row = Record<string, unknown>;

/**
 * Reads a row by id and makes it the entity that `findOneBy` would return, with whether a session was ended.
 *
 * It exists for the guarded request: TypeORM builds and parses a query for every call, which costs
 * several times the query itself. Here the statement is prepared once, and requests that arrive together
 * are answered by one. Undefined where an entity needs more than its own columns (eager relations,
 * inheritance, load listeners, another driver): the caller then asks the repository.
 */
export function rowReader(
  database: Database,
  metadata: EntityMetadata,
): ((key: CallerKey) => Promise<FoundCaller | null>) | undefined {
  const { source } = database;
  const [primary] = metadata.primaryColumns;
  if (!primary || !isPlain(source, metadata)) return undefined;

  const columns = ownColumns(metadata);
  const rows = rowsById(metadata, primary, columns, database);
  const read = batchPerTick<Row | null, CallerKey>(async (keys) => {
    // Two requests of one user get a row each: a value that one of them changes must not be the other's.
    const rounds = byOccurrence(keys.map(({ id }) => id));
    const families = keys.flatMap(({ familyId }) => familyId ?? []);
    const found = await Promise.all(rounds.map(async (round) => rowsByKey(await rows(round, families))));
    const seen = new Map<string, number>();
    return keys.map(({ id }) => {
      const occurrence = seen.get(id) ?? 0;
      seen.set(id, occurrence + 1);
      return found[occurrence]!.get(id) ?? null;
    });
  });
  return async (key) => {
    const row = await read(key);
    if (!row) return null;
    const ended = (row[ENDED] as string[] | null | undefined) ?? [];
    const isEnded = key.familyId !== null && ended.includes(key.familyId);
    return { user: hydrate(source, metadata, columns, row), ended: isEnded };
  };
}

/** Whose row is read, and the session that is looked at with it, a UUID in lower case; null for none. */
export interface CallerKey {
  readonly id: string;
  readonly familyId: string | null;
}

export interface FoundCaller {
  readonly user: object;
  readonly ended: boolean;
}

const rowsByKey = (rows: Row[]): Map<string, Row> => new Map(rows.map((row) => [String(row[KEY]), row]));

/** The distinct ids, then those asked for a second time, and so on: almost always one round. */
function byOccurrence(ids: readonly string[]): string[][] {
  const rounds: Set<string>[] = [];
  for (const id of ids) {
    const round = rounds.find((taken) => !taken.has(id)) ?? rounds[rounds.push(new Set()) - 1]!;
    round.add(id);
  }
  return rounds.map((round) => [...round]);
}

/** The id in the one spelling PostgreSQL writes it in: a subject "07" finds no user 7. */
const KEY = 'svc_key';

/** The sessions that were ended, among those that the statement asks about. */
const ENDED = 'svc_ended';

function rowsById(
  metadata: EntityMetadata,
  primary: ColumnMetadata,
  columns: ColumnMetadata[],
  database: Database,
): (ids: string[], familyIds: string[]) => Promise<Row[]> {
  const id = quoted(primary.databaseName);
  const table = quotedPath(metadata.tablePath);
  const selected = columns.map((column) => quoted(column.databaseName)).join(', ');
  const where = `FROM ${table} WHERE ${id} = ANY($1)${isLive(metadata)}`;
  const text = `SELECT ${selected}, ${id}::text AS ${KEY} ${where}`;
  // A sub-select that depends on no row is evaluated once for the whole statement.
  const withSessions = once(
    () => `SELECT ${selected}, ${id}::text AS ${KEY}, (${endedAmong(database, '$2')}) AS ${ENDED} ${where}`,
  );
  return (ids, familyIds) =>
    familyIds.length ? database.query<Row>(withSessions(), [ids, familyIds]) : database.query<Row>(text, [ids]);
}

/** The columns that are selected; a relation's own column is the relation's to load. */
export const ownColumns = (metadata: EntityMetadata): ColumnMetadata[] =>
  metadata.columns.filter((column) => column.isSelect && !column.isVirtual);

/** The condition that a row is not marked as deleted, to follow another one. */
export const isLive = ({ deleteDateColumn }: EntityMetadata): string =>
  deleteDateColumn ? ` AND ${quoted(deleteDateColumn.databaseName)} IS NULL` : '';

/** The entity as TypeORM's loader would make it. */
export function hydrate(source: DataSource, metadata: EntityMetadata, columns: ColumnMetadata[], row: Row): object {
  const entity = metadata.create(undefined, { fromDeserializer: true });
  for (const column of columns) {
    column.setEntityValue(entity, source.driver.prepareHydratedValue(row[column.databaseName], column));
  }
  return entity;
}

// TypeORM selects these through a function.
const SPATIAL = new Set(['geometry', 'geography']);

/** Whether an entity is its own columns and nothing else. */
export const isPlain = (source: DataSource, metadata: EntityMetadata): boolean =>
  source.options.type === 'postgres' &&
  metadata.primaryColumns.length === 1 &&
  !metadata.primaryColumns[0]!.transformer &&
  !metadata.eagerRelations.length &&
  !metadata.relationIds.length &&
  !metadata.inheritancePattern &&
  !metadata.embeddeds.length &&
  !metadata.afterLoadListeners.length &&
  !source.subscribers.some((subscriber) => subscriber.afterLoad) &&
  !metadata.columns.some((column) => column.isVirtualProperty || column.query || SPATIAL.has(String(column.type)));

const HASH = 'svc_hash';

/** Users of one entity with their password hashes, which no other query selects. Asked of the primary, past caches. */
export class CredentialRows<User extends ObjectLiteral> {
  private readonly metadata: EntityMetadata;
  private readonly read: (property: string, values: readonly string[]) => Promise<StoredCredentials<User>[]>;

  constructor(
    private readonly repository: Repository<User>,
    private readonly database: Database,
  ) {
    this.metadata = repository.metadata;
    this.read = isPlain(database.source, this.metadata) ? this.byStatement() : this.byQuery;
  }

  /** Those in whose column is one of these values. */
  async by(property: string, values: readonly string[]): Promise<StoredCredentials<User>[]> {
    const found = await this.read(property, values);
    // Taken off the entity, so that no host code and no serializer meets it.
    for (const { user } of found) delete (user as { passwordHash?: unknown }).passwordHash;
    return found;
  }

  /** Prepared: a login would spend more on building and parsing a query than on all its other statements. */
  private byStatement() {
    const { database, metadata } = this;
    const { source } = database;
    const hash = metadata.findColumnWithPropertyName('passwordHash')!;
    const columns = ownColumns(metadata);
    const selected = columns.map((column) => `${quoted(column.databaseName)}, `).join('');
    const from = `${quoted(hash.databaseName)} AS ${HASH} FROM ${quotedPath(metadata.tablePath)}`;
    return async (property: string, values: readonly string[]): Promise<StoredCredentials<User>[]> => {
      const column = metadata.findColumnWithPropertyName(property)!;
      const text = `SELECT ${selected}${from} WHERE ${quoted(column.databaseName)} = ANY($1)${isLive(metadata)}`;
      const stored = values.map((value) => source.driver.preparePersistentValue(value, column));
      const rows = await database.query<Row>(text, [stored]);
      return rows.map((row) => ({
        user: hydrate(source, metadata, columns, row) as User,
        passwordHash: source.driver.prepareHydratedValue(row[HASH], hash) ?? null,
      }));
    };
  }

  private readonly byQuery = async (
    property: string,
    values: readonly string[],
  ): Promise<StoredCredentials<User>[]> => {
    const users = await this.database.withManager((manager) =>
      manager
        .createQueryBuilder(this.repository.target, 'u')
        .addSelect('u.passwordHash')
        .setFindOptions({ where: values.map((value) => ({ [property]: value })) as never, loadEagerRelations: true })
        .cache(false)
        .getMany(),
    );
    return users.map((user) => ({
      user,
      passwordHash: (user as { passwordHash?: string | null }).passwordHash ?? null,
    }));
  };
}
