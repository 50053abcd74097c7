import type { EntityMetadata, ObjectLiteral, Repository } from 'typeorm';
import type { Database } from '../kernel/database';
import { quoted, quotedPath } from '../kernel/quoted';
import type { Row } from './user-row';
import type { StoredCredentials } from './user-provider';
import { hydrate, isLive, isPlain, ownColumns } from './user-row';

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
    const users = await this.database.using((manager) =>
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
