import type { EntityManager, EntityMetadata, FindOptionsWhere, ObjectLiteral, Repository } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { AuthConfigError } from '../../foundation/platform/errors';
import { batchPerTick } from '../../foundation/platform/batching';
import { type Database, type Sql, quoted, quotedPath } from '../../foundation/platform/database';
import { IsNull } from '../../foundation/platform/entity';
import { type CreatedBeside, type RowBeside, TypeOrmAccounts, imitateIn, isUnique } from './typeorm-accounts';
import {
  CredentialRows,
  type CallerKey,
  type FoundCaller,
  existsById,
  existsLocked,
  locksRows,
  noValue,
  rowReader,
  userJoinReader,
} from './user-rows';
import { TEXT_TYPES, type SecondFactorTableType, idColumnOf, isStorable } from './columns';
import { accountAmong, foldedIdentifier, keptAs, emailSpellings } from './identifiers';
import {
  type EmailReplacement,
  type NewAccount,
  type OptionalPorts,
  type ReplacementResult,
  type Replacing,
  type StoredCredentials,
  type StoredSecondFactor,
  UserProvider,
} from '../../foundation/ports/user-provider';

/** Types whose values PostgreSQL compares to the letter. Of the others, such as citext and uuid, it ignores the case. */
const TO_THE_LETTER: ReadonlySet<unknown> = new Set([
  String,
  'text',
  'varchar',
  'character varying',
  'char',
  'character',
  'enum',
]);

/** Collations of PostgreSQL that compare to the letter. One of the host may ignore the case, so it counts as one that does. */
const EXACT_COLLATIONS: ReadonlySet<unknown> = new Set([undefined, '', 'default', 'C', 'POSIX']);

// 22P02 invalid text, 22003 out of range, 22021 bad encoding.
const NOT_OF_THE_TYPE = new Set(['22P02', '22003', '22021']);

/** Null for an error that a value outside its column's type causes: no user has that value. Rethrows any other error. */
function nullIfNotOfType(error: { code?: string }): null {
  if (NOT_OF_THE_TYPE.has(error.code ?? '')) return null;
  throw error;
}

const NOT_FOUND = { user: null, ended: false };

type Found<User> = Omit<FoundCaller, 'user'> & { user: User | null };

/** Reads and changes the users of one TypeORM entity. The guard's `username` option names the identifier column. */
export class TypeormUserProvider<User extends ObjectLiteral = ObjectLiteral> extends UserProvider<User> {
  private readonly repository: Repository<User>;
  protected readonly metadata: EntityMetadata;
  private readonly id: ColumnMetadata;
  private readonly secondFactors: InstanceType<SecondFactorTableType> | undefined;
  /** Undefined until {@link readLocks} has read it. */
  private isLockable: boolean | undefined;
  private readonly accounts: TypeOrmAccounts<User>;
  /** The property that holds the email. */
  private readonly email: string;
  private readonly credentials: CredentialRows<User>;
  private readonly row: ((key: CallerKey) => Promise<FoundCaller | null>) | undefined;
  private readonly hasRow = batchPerTick<boolean>((ids) => this.haveRows(ids));

  constructor(
    protected readonly database: Database,
    entity: new () => User,
    private readonly username: string,
    Table?: SecondFactorTableType,
  ) {
    super();
    const { source } = database;
    if (!database.hasEntity(entity)) {
      throw new AuthConfigError(
        `${entity.name} is not an entity of this data source. Add it to the entities of TypeOrmModule.forRoot(), beside ` +
          '...authEntities, or set autoLoadEntities: true. Its class needs @Entity().',
      );
    }
    this.repository = source.getRepository(entity);
    this.metadata = this.repository.metadata;
    this.id = idColumnOf(this.metadata);
    for (const property of [username, 'passwordHash']) this.requireColumn(property);
    this.secondFactors = Table && new Table(database, this.metadata);
    this.accounts = new TypeOrmAccounts(this.repository, username, database);
    this.email = this.accounts.email;
    this.credentials = new CredentialRows(this.repository, database);
    this.row = rowReader(database, this.metadata);
  }

  async findById(id: string): Promise<User | null> {
    return (await this.find({ id, familyId: null })).user;
  }

  /** Whether {@link findWithSession} is supported. It is not where the entity has more than the columns of its table. */
  get readsSessions(): boolean {
    return this.row !== undefined;
  }

  /**
   * Reads the user, and whether a session was ended, in one statement on the primary. Concurrent requests share it.
   *
   * @param asksPin whether to read as well whether the session has a pinned list of abilities
   */
  findWithSession(id: string, familyId: string | null, asksPin: boolean): Promise<Found<User>> {
    return this.find({ id, familyId, asksPin });
  }

  /** See {@link userJoinReader}. */
  joinedTo<R extends object>(table: () => string, columns: string, parameter: () => unknown) {
    return userJoinReader<R>(this.database, this.metadata, table, columns, parameter);
  }

  /** SQL of whether the user exists whose id is in a text column; null where ids have another type. */
  existsSql(idColumn: string): string | null {
    return existsById(this.database.source, this.metadata, idColumn);
  }

  /** Reads, once, whether the rows of the users can be locked. It is called before {@link existsLockedSql}. */
  async readLocks(sql: Sql): Promise<void> {
    this.isLockable ??= await locksRows(sql, this.metadata);
  }

  /**
   * SQL of whether the user exists whose id is `parameter`, with a lock against its deletion: see `existsLocked`. Null
   * where the statement cannot know it, and where the rows cannot be locked.
   */
  existsLockedSql(parameter: string): string | null {
    if (!this.isLockable) return null;
    return existsLocked(this.database.source, this.metadata, parameter);
  }

  private async find(key: CallerKey): Promise<Found<User>> {
    const { id } = key;
    if (!isStorable(id)) return NOT_FOUND;
    try {
      const found = await (this.row ? this.row(key) : this.findEntity(id));
      // PostgreSQL reads " 7" and "07" as 7. A token subject must match the id exactly.
      return found && this.idOf(found.user as User) === id ? (found as Found<User>) : NOT_FOUND;
    } catch (error) {
      return nullIfNotOfType(error as { code?: string }) ?? NOT_FOUND;
    }
  }

  private async findEntity(id: string): Promise<FoundCaller | null> {
    const [user] = await this.credentials.entities([this.byId(id)]);
    return user ? { user, ended: false } : null;
  }

  async findByIdentifier(identifier: string): Promise<StoredCredentials<User> | null> {
    if (!isStorable(identifier)) return null;
    if (this.username === 'email') return this.findByAddress(identifier);
    const [found] = (await this.credentials.by(this.username, [identifier]).catch(nullIfNotOfType)) ?? [];
    return found && this.isSpelled(found.user, identifier) ? found : null;
  }

  override async findByEmails(emails: readonly string[]): Promise<StoredCredentials<User>[]> {
    const texts = emails.filter(isStorable);
    if (!texts.length) return [];
    return (await this.credentials.by(this.email, texts).catch(nullIfNotOfType)) ?? [];
  }

  private async findByAddress(address: string): Promise<StoredCredentials<User> | null> {
    if (!isStorable(address)) return null;
    return accountAmong(await this.findByEmails(emailSpellings(address)), address, ({ user }) => this.emailOf(user));
  }

  /**
   * The text that the statement of {@link findByIdentifier} compares. It differs from it in two cases: an email that is
   * stored in another form than the canonical one is found by some of its spellings only, and PostgreSQL may convert letters
   * outside ASCII in another way, by the locale of the database (`citext`) or by a collation.
   */
  override comparedForm(identifier: string): string {
    const column = this.metadata.findColumnWithPropertyName(this.username)!;
    const text = String(this.database.source.driver.preparePersistentValue(keptAs(this.username, identifier), column));
    const isExact = TO_THE_LETTER.has(column.type) && EXACT_COLLATIONS.has(column.collation);
    return isExact ? text : foldedIdentifier(text);
  }

  async passwordHashOf(id: string): Promise<string | null> {
    if (!isStorable(id)) return null;
    const [found] = (await this.credentials.by(this.id.propertyName, [id]).catch(nullIfNotOfType)) ?? [];
    return found && this.idOf(found.user) === id ? found.passwordHash : null;
  }

  /** Reads the column `emailVerifiedAt`; null where the entity has no such column. */
  override isEmailVerified(user: User): boolean | null {
    const column = this.metadata.findColumnWithPropertyName('emailVerifiedAt');
    return column ? (column.getEntityValue(user) ?? null) !== null : null;
  }

  override identifierOf(user: User): string | null {
    return this.textOf(user, this.username);
  }

  override emailOf(user: User): string | null {
    return this.textOf(user, this.email);
  }

  override async findByEmail(email: string): Promise<User | null> {
    return (await this.findByAddress(email))?.user ?? null;
  }

  /** The name of the entity's column if it is not unique; null if it is unique. */
  sharedColumn(kind: 'identifier' | 'email'): string | null {
    const property = kind === 'email' ? this.email : this.username;
    return isUnique(this.metadata, property) ? null : `${this.metadata.name}.${property}`;
  }

  /** Whether a user that was read has a property: that of a selected column, or a getter. */
  reads(property: string): boolean {
    const column = this.metadata.findColumnWithPropertyName(property);
    return column ? column.isSelect : property in Object((this.metadata.target as { prototype?: object }).prototype);
  }

  override offers(method: keyof OptionalPorts): boolean {
    const { accounts, isIdentifiedByEmail, username } = this;
    const storesFactors = (): boolean => this.secondFactors?.exist ?? false;
    const areDated = (): boolean => accounts.areDated;
    const offered: Record<keyof OptionalPorts, () => boolean> = {
      findByEmails: () => true,
      // Registration requires a name.
      create: () => accounts.has('name'),
      // A `@CreateDateColumn` with a time zone.
      currentMark: areDated,
      wasCreatedSince: areDated,
      markEmailVerified: () => accounts.has('emailVerifiedAt'),
      // Other rows refer to a primary key.
      changeEmail: () => !this.isPrimary(accounts.email),
      changeIdentifier: () => !isIdentifiedByEmail && !this.isPrimary(username),
      delete: () => true,
      secondFactorOf: storesFactors,
      replaceSecondFactor: storesFactors,
    };
    return offered[method]();
  }

  override async create(account: NewAccount, manager?: EntityManager): Promise<User | null> {
    // Within a transaction of the library, another connection does not see the row before the commit.
    if (manager) return this.accounts.createIn(manager, account);
    const created = await this.accounts.create(account);
    // Read again, because the saved entity contains the password hash.
    return created && this.findById(this.idOf(created));
  }

  /** See {@link TypeOrmAccounts.createBeside}. */
  createBeside(account: NewAccount, row: RowBeside): Promise<CreatedBeside<User> | null> {
    return this.accounts.createBeside(account, row);
  }

  override async imitateCreation(id: string, manager?: EntityManager): Promise<void> {
    if (manager) return void (await imitateIn(manager));
    await this.accounts.imitateInsert();
    await this.findById(id);
  }

  /** Whether a change of a user calls code of the host: a listener of the entity, or a subscriber. */
  get callsHost(): boolean {
    return this.database.callsHost(this.metadata.target);
  }

  /** Whether a user can be stored without a password. */
  get allowsNoPassword(): boolean {
    return this.metadata.findColumnWithPropertyName('passwordHash')!.isNullable;
  }

  override currentMark(): Promise<string> {
    return this.accounts.currentMark();
  }

  override wasCreatedSince(id: string, mark: string): Promise<boolean> {
    return this.accounts.wasCreatedSince(id, mark);
  }

  override async markEmailVerified(id: string, email: string, at: Date): Promise<boolean> {
    return isStorable(id) && isStorable(email) && this.accounts.markVerified(this.byId(id), email, at);
  }

  override async changeEmail(
    id: string,
    { from, to, verifiedAt }: EmailReplacement,
    manager: EntityManager,
  ): Promise<ReplacementResult> {
    if (![id, to, from ?? ''].every(isStorable)) return 'stale';
    const more = this.accounts.has('emailVerifiedAt') ? { emailVerifiedAt: verifiedAt } : {};
    return this.accounts.replace(this.byId(id), this.email, { from, to }, more, manager);
  }

  /** Whether the identifier is the email of the users. */
  get isIdentifiedByEmail(): boolean {
    return this.email === this.username;
  }

  override async changeIdentifier(id: string, { from, to }: Replacing): Promise<ReplacementResult> {
    if (![id, to, from ?? ''].every(isStorable)) return 'stale';
    return this.accounts.inTransaction((manager) =>
      this.accounts.replace(this.byId(id), this.username, { from, to }, {}, manager),
    );
  }

  override async delete(id: string, manager: EntityManager): Promise<boolean> {
    return isStorable(id) && this.accounts.delete(this.byId(id), manager);
  }

  override async secondFactorOf(id: string): Promise<StoredSecondFactor | null> {
    return isStorable(id) ? (this.secondFactors?.find(id).catch(nullIfNotOfType) ?? null) : null;
  }

  override async replaceSecondFactor(
    id: string,
    current: StoredSecondFactor,
    next: StoredSecondFactor,
  ): Promise<boolean> {
    return isStorable(id) && (this.secondFactors?.replace(id, current, next) ?? false);
  }

  override async existingIds(ids: readonly string[]): Promise<ReadonlySet<string> | null> {
    // The table stores transformed ids, which cannot be compared with the given ids. No user may count as missing.
    if (this.id.transformer) return null;
    // An id outside the column's type cannot be queried, so its user counts as present.
    const found = await Promise.all(ids.map((id) => this.hasRow(id).catch((error) => nullIfNotOfType(error) === null)));
    return new Set(ids.filter((_, i) => found[i]));
  }

  idOf(user: User): string {
    return String(this.id.getEntityValue(user));
  }

  /** A number if the entity's id is one. A bigint is a string: JSON cannot represent it, and numbers would round it. */
  override publicIdOf(user: User): string | number {
    const id: unknown = this.id.getEntityValue(user);
    return Number.isSafeInteger(id) ? (id as number) : this.idOf(user);
  }

  async savePasswordHash(id: string, passwordHash: string, replacing?: string | null): Promise<boolean> {
    if (!isStorable(id)) return false;
    const current = replacing === undefined ? {} : { passwordHash: replacing ?? IsNull() };
    const where = { ...this.byId(id), ...current };
    // The transaction rolls back after the timeout, so a change that was answered with 503 is not committed later.
    return this.database.transaction(async (_, manager) => {
      return (await manager.update(this.metadata.target, where, { passwordHash } as never)).affected === 1;
    }, this.callsHost);
  }

  /**
   * Whether the identifier is the canonical spelling of its value. A numeric column reads "007" as 7, and rate
   * limits would count every spelling as another account.
   */
  private isSpelled(user: User, identifier: string): boolean {
    const column = this.metadata.findColumnWithPropertyName(this.username)!;
    if (TEXT_TYPES.has(column.type)) return true;
    return foldedIdentifier(String(column.getEntityValue(user))) === foldedIdentifier(identifier);
  }

  /** Which ids have a row. Soft-deleted rows count. */
  private async haveRows(ids: string[]): Promise<boolean[]> {
    const id = quoted(this.id.databaseName);
    const rows = await this.database.query<{ id: string }>(
      `SELECT ${id}::text AS id FROM ${quotedPath(this.metadata.tablePath)} WHERE ${id} = ANY($1)`,
      [ids],
    );
    const known = new Set(rows.map((row) => row.id));
    return ids.map((rowId) => known.has(rowId));
  }

  private textOf(user: User, property: string): string | null {
    const value = this.metadata.findColumnWithPropertyName(property)!.getEntityValue(user);
    return value === null || value === undefined ? null : String(value);
  }

  private isPrimary(property: string): boolean {
    return this.metadata.findColumnWithPropertyName(property)!.isPrimary;
  }

  private byId(id: string): FindOptionsWhere<User> {
    return { [this.id.propertyName]: id === '' ? noValue() : id } as FindOptionsWhere<User>;
  }

  private requireColumn(property: string): void {
    if (this.metadata.findColumnWithPropertyName(property)) return;
    const others =
      property === this.username
        ? ', or set username (SVC_USERNAME) to the identifier column.'
        : `. A property has a column of any name: @Column({ name: 'password', type: 'text', nullable: true, select: false }) ${property}.`;
    throw new AuthConfigError(
      `${this.metadata.name} has no column "${property}". Extend withAuthColumns(), or add the column${others}`,
    );
  }
}
