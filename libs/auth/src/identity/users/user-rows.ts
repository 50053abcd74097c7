import type {
  DataSource,
  EntityManager,
  EntityMetadata,
  EntityTarget,
  FindOptionsWhere,
  ObjectLiteral,
  Repository,
} from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { batchPerTick } from '../../foundation/platform/batching';
import { type Database, type Sql, quoted, quotedPath } from '../../foundation/platform/database';
import { Raw } from '../../foundation/platform/entity';
import { once } from '../../foundation/platform/sweep';
import type { StoredCredentials } from '../../foundation/ports/user-provider';
import type { UserRows } from '../../foundation/realm/user-source';
import { comparesAsStored, idColumnOf, storedAs } from './columns';
import { endedAmong, pinnedAmong } from '../denylist/ended-sessions';

/** A row as the driver returns it, by the names of its columns. */
type Row = Record<string, unknown>;

/**
 * Returns a function that reads a row by id, builds the entity that `findOneBy` would return, and reports whether a
 * session was ended.
 *
 * Guarded requests use it, because TypeORM builds and parses a query for every call, which costs several times the
 * query itself. Here the statement is prepared once, and requests that arrive together share one statement.
 *
 * Undefined where an entity needs more than its own columns (eager relations, inheritance, load listeners, another
 * driver). The caller then uses the repository.
 */
export function rowReader(
  database: Database,
  metadata: EntityMetadata,
): ((key: CallerKey) => Promise<FoundCaller | null>) | undefined {
  const { source } = database;
  if (!isPlain(source, metadata)) return undefined;

  const primary = idColumnOf(metadata);
  const columns = ownColumns(metadata);
  const rows = rowsById(metadata, primary, columns, database);
  return batchPerTick<FoundCaller | null, CallerKey>(async (keys) => {
    const familyIds = keys.flatMap(({ familyId }) => familyId ?? []);
    const asksPin = keys.some((key) => key.asksPin);
    const ids = keys.map(({ id }) => id);
    const found = await separateRows(ids, KEY, (round) => rows(round, familyIds, asksPin));
    return keys.map(({ familyId }, i) => {
      const row = found[i];
      if (!row) return null;
      const isIn = (column: string): boolean =>
        familyId !== null &&
        String(row[column] ?? '')
          .split(',')
          .includes(familyId);
      const user = hydrate(source, metadata, columns, row);
      return { user, ended: isIn(ENDED), ...(asksPin && { pinned: isIn(PINNED) }) };
    });
  });
}

/** The id of the user to read, and the session to check with it: a UUID in lower case, or null for none. */
export interface CallerKey {
  readonly id: string;
  readonly familyId: string | null;
  /** Whether to read whether the session has a pinned list of abilities. */
  readonly asksPin?: boolean;
}

export interface FoundCaller {
  readonly user: object;
  readonly ended: boolean;
  /** Whether the session has a pinned list of abilities; undefined if it was not read. */
  readonly pinned?: boolean;
}

/**
 * Reads a row for each id. Two requests of one id get separate rows: a change to one entity must not affect the other.
 *
 * @param key the column with the id
 */
async function separateRows(
  ids: readonly string[],
  key: string,
  read: (round: string[]) => Promise<Row[]>,
): Promise<(Row | undefined)[]> {
  const byKey = async (round: string[]): Promise<Map<string, Row>> =>
    new Map((await read(round)).map((row) => [String(row[key]), row]));
  const found = await Promise.all(byOccurrence(ids).map(byKey));
  const seen = new Map<string, number>();
  return ids.map((id) => {
    const occurrence = seen.get(id) ?? 0;
    seen.set(id, occurrence + 1);
    return found[occurrence]!.get(id);
  });
}

/** Groups ids: the distinct ids first, then the ids that occur a second time, and so on. Mostly there is one group. */
function byOccurrence(ids: readonly string[]): string[][] {
  const rounds: Set<string>[] = [];
  for (const id of ids) {
    const round = rounds.find((taken) => !taken.has(id)) ?? rounds[rounds.push(new Set()) - 1]!;
    round.add(id);
  }
  return rounds.map((round) => [...round]);
}

/** Column alias of the id as PostgreSQL prints it. A subject "07" finds no user 7. */
export const KEY = 'svc_key';

/** Column alias of the ended sessions among the requested ones, as one text: the host may have a parser for arrays. */
const ENDED = 'svc_ended';

/** Column alias of the sessions with a pinned list of abilities among the requested ones, as one text. */
const PINNED = 'svc_pinned';

function rowsById(
  metadata: EntityMetadata,
  primary: ColumnMetadata,
  columns: ColumnMetadata[],
  database: Database,
): (ids: string[], familyIds: string[], asksPin: boolean) => Promise<Row[]> {
  const id = quoted(primary.databaseName);
  const table = quotedPath(metadata.tablePath);
  const selected = columns.map((column) => quoted(column.databaseName)).join(', ');
  const where = `FROM ${table} WHERE ${id} = ANY($1)${isLive(metadata)}`;
  const text = `SELECT ${selected}, ${id}::text AS ${KEY} ${where}`;
  // A sub-select that depends on no row is evaluated once for the whole statement.
  const list = (ids: string, name: string): string => `array_to_string((${ids}), ',') AS ${name}`;
  const ended = once(() => `${id}::text AS ${KEY}, ${list(endedAmong(database, '$2'), ENDED)}`);
  const withSessions = once(() => `SELECT ${selected}, ${ended()} ${where}`);
  const withPins = once(() => `SELECT ${selected}, ${ended()}, ${list(pinnedAmong(database, '$2'), PINNED)} ${where}`);
  return (asked, familyIds, asksPin) => {
    const ids = asked.map((one) => one || null);
    if (!familyIds.length) return database.queryHost<Row>(text, [ids]);
    return database.queryHost<Row>(asksPin ? withPins() : withSessions(), [ids, familyIds]);
  };
}

/** The columns that are selected by default, without the join columns of relations. */
export const ownColumns = (metadata: EntityMetadata): ColumnMetadata[] =>
  metadata.columns.filter((column) => column.isSelect && !column.isVirtual);

/** SQL that excludes soft-deleted rows. It begins with AND. */
const isLive = ({ deleteDateColumn }: EntityMetadata): string =>
  deleteDateColumn ? ` AND ${quoted(deleteDateColumn.databaseName)} IS NULL` : '';

const TEXT_IDS: ReadonlySet<unknown> = new Set([String, 'text', 'varchar', 'character varying']);
const INTEGER_IDS: ReadonlySet<unknown> = new Set([
  Number,
  'int',
  'int2',
  'int4',
  'int8',
  'integer',
  'bigint',
  'smallint',
]);

/** A type of ids: the texts that can be converted to it, as a regular expression of PostgreSQL, and the name of the type. */
function idType(type: unknown): { pattern: string; cast: string } | null {
  if (TEXT_IDS.has(type)) return { pattern: '', cast: 'text' };
  if (INTEGER_IDS.has(type)) return { pattern: '^(0|-?[1-9][0-9]{0,17})$', cast: 'bigint' };
  return type === 'uuid' ? { pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', cast: 'uuid' } : null;
}

/**
 * SQL of whether a user exists whose id is in a text column. Its value is null if this statement cannot know, for example
 * for an integer of more than 18 digits. Null instead of SQL where `findById` reads more than one row by its id.
 */
export function existsById(source: DataSource, metadata: EntityMetadata, idColumn: string): string | null {
  const primary = idColumnOf(metadata);
  const type = isPlain(source, metadata) ? idType(primary.type) : null;
  if (!type) return null;
  const id = `u.${quoted(primary.databaseName)} = ${idColumn}::${type.cast}`;
  const exists = `EXISTS (SELECT 1 FROM ${quotedPath(metadata.tablePath)} u WHERE ${id}${isLive(metadata)})`;
  // CASE, because the cast of another text would fail.
  return `CASE WHEN ${idColumn} ~ '${type.pattern}' THEN ${exists} END`;
}

/**
 * SQL of whether the user with the id in `parameter` exists. It locks the row against its deletion until the transaction
 * ends, and waits for a deletion that is not committed. So a row that is inserted under this condition names no deleted
 * user: a deletion that commits later removes the row. The parameter is used nowhere else in the statement, because its
 * type is that of the column. Null where ids are stored in another form than `findById` takes them.
 */
export function existsLocked(source: DataSource, metadata: EntityMetadata, parameter: string): string | null {
  const primary = idColumnOf(metadata);
  if (source.options.type !== 'postgres' || primary.transformer) return null;
  const where = `${quoted(primary.databaseName)} = ${parameter}${isLive(metadata)}`;
  return `EXISTS (SELECT 1 FROM ${quotedPath(metadata.tablePath)} WHERE ${where} FOR KEY SHARE)`;
}

/**
 * Whether rows of the relation can be locked as {@link existsLocked} does. Not those of some views, nor where the role has
 * no right to update, nor where policies of rows decide which rows it sees.
 */
export async function locksRows(sql: Sql, { tablePath }: EntityMetadata): Promise<boolean> {
  const found = await sql(
    `SELECT 1 FROM pg_class WHERE oid = to_regclass($1) AND relkind IN ('r', 'p')
        AND has_any_column_privilege(oid, 'UPDATE') AND NOT row_security_active(oid)`,
    [quotedPath(tablePath)],
  );
  return found.length > 0;
}

/** A row of another table, with the user whose id it has. */
export interface RowWithUser<R> {
  readonly row: R;
  /** Builds the user; null without one. */
  readonly user: () => object | null;
}

/**
 * Returns a function that reads a row of another table by its id, with the user whose id is in its text column `user_id`: in one
 * statement, which requests that arrive together share. Undefined as for {@link rowReader}, and where ids have another type.
 *
 * @param table SQL of the other table, which is read when the data source is ready
 * @param columns SQL of its columns, each of `r` and with a name that no column of users has
 * @param parameter the value of `$2`, which they use
 */
export function userJoinReader<R extends object>(
  database: Database,
  metadata: EntityMetadata,
  table: () => string,
  columns: string,
  parameter: () => unknown,
): ((id: string) => Promise<RowWithUser<R> | null>) | undefined {
  const { source } = database;
  const primary = idColumnOf(metadata);
  const type = isPlain(source, metadata) ? idType(primary.type) : null;
  if (!type) return undefined;
  const [own, id, removed] = [ownColumns(metadata), `u.${quoted(primary.databaseName)}`, metadata.deleteDateColumn];
  const selected = own.map((column) => `u.${quoted(column.databaseName)}`).join(', ');
  const statement = once(
    () => `SELECT r.id AS svc_row, r.user_id AS svc_user, ${columns}, ${selected}, ${id}::text AS ${KEY}
      FROM ${table()} r LEFT JOIN ${quotedPath(metadata.tablePath)} u
        ON ${id} = CASE WHEN r.user_id ~ '${type.pattern}' THEN r.user_id::${type.cast} END
       ${removed ? `AND u.${quoted(removed.databaseName)} IS NULL` : ''}
     WHERE r.id = ANY($1)`,
  );
  return batchPerTick<RowWithUser<R> | null>(async (ids) => {
    const read = (round: string[]): Promise<Row[]> => database.queryHost(statement(), [round, parameter()]);
    return (await separateRows(ids, 'svc_row', read)).map((row) => {
      if (!row) return null;
      // PostgreSQL reads "07" as 7, which is the id of another text.
      const user = () => (row[KEY] && row[KEY] === row.svc_user ? hydrate(source, metadata, own, row) : null);
      return { row: row as R, user };
    });
  });
}

/** Builds the entity as TypeORM's loader does. */
export function hydrate(source: DataSource, metadata: EntityMetadata, columns: ColumnMetadata[], row: Row): object {
  const entity = metadata.create(undefined, { fromDeserializer: true });
  for (const column of columns) {
    column.setEntityValue(entity, source.driver.prepareHydratedValue(row[column.databaseName], column));
  }
  return entity;
}

// TypeORM selects columns of these types through an SQL function.
const SPATIAL = new Set(['geometry', 'geography']);

/** Whether an entity consists of its own columns only. */
export const isPlain = (source: DataSource, metadata: EntityMetadata): boolean =>
  source.options.type === 'postgres' &&
  !idColumnOf(metadata).transformer &&
  !metadata.eagerRelations.length &&
  !metadata.relationIds.length &&
  !metadata.inheritancePattern &&
  !metadata.embeddeds.length &&
  !metadata.afterLoadListeners.length &&
  !source.subscribers.some((subscriber) => subscriber.afterLoad) &&
  !metadata.columns.some((column) => column.isVirtualProperty || column.query || SPATIAL.has(String(column.type)));

/** An empty text names no user. As null it has any type, so the query fails for no type of ids, and is the same one. */
export const noValue = () => Raw((alias) => `${alias} = :none`, { none: null });

/** Where no user is found, an entity is built from it and discarded, so that the look-up has the same steps. */
const NO_ROW: Row = {};

/** Reads users of one entity, also with their password hashes. Queries go to the primary and bypass caches. */
export class CredentialRows<User extends ObjectLiteral> {
  private readonly isPlain: boolean;
  private readonly hash: ColumnMetadata;
  /** Without the password hash, so that neither host code nor a serializer can read it. */
  private readonly columns: ColumnMetadata[];
  /** A transformer of the host may not expect the absent value of {@link NO_ROW}. */
  private readonly untransformed: ColumnMetadata[];

  constructor(
    private readonly repository: Repository<User>,
    private readonly database: Database,
  ) {
    const { metadata } = repository;
    this.isPlain = isPlain(database.source, metadata);
    this.hash = metadata.findColumnWithPropertyName('passwordHash')!;
    this.columns = ownColumns(metadata).filter((column) => column !== this.hash);
    this.untransformed = this.columns.filter(({ transformer }) => !transformer);
  }

  /** The users that meet one of the conditions, without their password hashes. */
  entities(where: FindOptionsWhere<User>[]): Promise<User[]> {
    return this.database.withManager((manager) => this.selection(manager, where).getMany(), this.callsHost);
  }

  /** The users whose `property` has one of these values. Several of them are not empty. */
  by(property: string, values: readonly string[]): Promise<StoredCredentials<User>[]> {
    const column = this.repository.metadata.findColumnWithPropertyName(property)!;
    return this.isPlain && comparesAsStored(column)
      ? this.byStatement(column, values)
      : this.byRepository(column, values);
  }

  /**
   * One prepared statement and few steps: TypeORM builds a query for every call, and takes longer for a row that exists, so the
   * duration of a login would show whether the user does.
   */
  private async byStatement(column: ColumnMetadata, values: readonly string[]): Promise<StoredCredentials<User>[]> {
    const { source } = this.database;
    const { metadata } = this.repository;
    const rows = await this.database.queryHost<Row>(this.statement(column), [values.map((value) => value || null)]);
    if (!rows.length) hydrate(source, metadata, this.untransformed, NO_ROW);
    return rows.map((row) => ({
      user: hydrate(source, metadata, this.columns, row) as User,
      passwordHash: source.driver.prepareHydratedValue(row[this.hash.databaseName] ?? null, this.hash) as string | null,
    }));
  }

  private statement(column: ColumnMetadata): string {
    const { metadata } = this.repository;
    const selected = [...this.columns, this.hash].map(({ databaseName }) => quoted(databaseName)).join(', ');
    const where = `${quoted(column.databaseName)} = ANY($1)${isLive(metadata)}`;
    return `SELECT ${selected} FROM ${quotedPath(metadata.tablePath)} WHERE ${where}`;
  }

  private async byRepository(column: ColumnMetadata, values: readonly string[]): Promise<StoredCredentials<User>[]> {
    const where = values[0] === '' ? [{ [column.propertyName]: noValue() }] : storedAs(column, values);
    const users = await this.database.withManager(
      (manager) =>
        this.selection(manager, where as FindOptionsWhere<User>[])
          .addSelect('u.passwordHash')
          .getMany(),
      this.callsHost,
    );
    return users.map((user) => {
      const { passwordHash = null } = user as { passwordHash?: string | null };
      // The hash is removed from the entity, so that neither host code nor a serializer can read it.
      delete (user as { passwordHash?: unknown }).passwordHash;
      return { user, passwordHash };
    });
  }

  /** TypeORM calls the `@AfterLoad` listeners of the host. */
  private get callsHost(): boolean {
    return this.database.callsHost(this.repository.target);
  }

  /** Uses the connection of the manager. A repository would read a replica where the data source has replicas. */
  private selection(manager: EntityManager, where: FindOptionsWhere<User>[]) {
    return manager
      .createQueryBuilder(this.repository.target, 'u')
      .setFindOptions({ where, loadEagerRelations: true })
      .cache(false);
  }
}

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
