import { Injectable } from '@nestjs/common';
import {
  type EmailReplacement,
  type NewAccount,
  type ReplacementResult,
  type StoredCredentials,
  type StoredSecondFactor,
  UserProvider,
} from '@svc/auth';
import { type Column, and, eq, inArray, isNotNull, isNull } from 'drizzle-orm';
import { Database } from './database.js';
import { users } from './schema.js';

/** The columns that routes and responses may have: no hash, and no second factor. */
const SHOWN = { id: users.id, email: users.email, name: users.name };

export type User = Pick<typeof users.$inferSelect, keyof typeof SHOWN>;

type Transaction = Parameters<NonNullable<UserProvider['delete']>>[1];

/** The form of the ids in the table. PostgreSQL also accepts other forms, and throws for a text that is not a UUID. */
const isId = (id: unknown): boolean =>
  typeof id === 'string' &&
  /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(id);

/** SQL compares NULL with nothing: `= NULL` is never true. */
const is = (column: Column, value: string | null) =>
  value === null ? isNull(column) : eq(column, value);

@Injectable()
export class DrizzleUsers extends UserProvider<User> {
  constructor(private readonly database: Database) {
    super();
  }

  private get db() {
    return this.database.drizzle;
  }

  async findById(id: string): Promise<User | null> {
    if (!isId(id)) return null;
    const [user] = await this.db
      .select(SHOWN)
      .from(users)
      .where(eq(users.id, id));
    return user ?? null;
  }

  async findByIdentifier(
    identifier: string,
  ): Promise<StoredCredentials<User> | null> {
    // The library passes emails in the form in which they are stored.
    const email = identifier.trim().toLowerCase();
    const [found] = await this.findByEmails([email]);
    return found ?? null;
  }

  /** Emails that other software has stored in another spelling, too. */
  override async findByEmails(
    emails: readonly string[],
  ): Promise<StoredCredentials<User>[]> {
    // A text of PostgreSQL has no NUL.
    const texts = emails.filter((email) => !email.includes('\0'));
    const columns = { ...SHOWN, passwordHash: users.passwordHash };
    const found = await this.db
      .select(columns)
      .from(users)
      .where(inArray(users.email, texts));
    return found.map(({ passwordHash, ...user }) => ({ user, passwordHash }));
  }

  async passwordHashOf(id: string): Promise<string | null> {
    if (!isId(id)) return null;
    const [found] = await this.db
      .select({ hash: users.passwordHash })
      .from(users)
      .where(eq(users.id, id));
    return found?.hash ?? null;
  }

  async savePasswordHash(
    id: string,
    passwordHash: string,
    replacing?: string | null,
  ): Promise<boolean> {
    if (!isId(id)) return false;
    const current =
      replacing === undefined ? undefined : is(users.passwordHash, replacing);
    const { rowCount } = await this.db
      .update(users)
      .set({ passwordHash })
      .where(and(eq(users.id, id), current));
    return rowCount === 1;
  }

  override async secondFactorOf(
    id: string,
  ): Promise<StoredSecondFactor | null> {
    if (!isId(id)) return null;
    const columns = {
      secret: users.twoFactorSecret,
      recoveryCodes: users.twoFactorRecoveryCodes,
      confirmedAt: users.twoFactorConfirmedAt,
    };
    const [found] = await this.db
      .select(columns)
      .from(users)
      .where(eq(users.id, id));
    return found ?? null;
  }

  override async replaceSecondFactor(
    id: string,
    current: StoredSecondFactor,
    next: StoredSecondFactor,
  ): Promise<boolean> {
    if (!isId(id)) return false;
    const { rowCount } = await this.db
      .update(users)
      .set({
        twoFactorSecret: next.secret,
        twoFactorRecoveryCodes: next.recoveryCodes,
        twoFactorConfirmedAt: next.confirmedAt,
      })
      .where(
        and(
          eq(users.id, id),
          is(users.twoFactorSecret, current.secret),
          is(users.twoFactorRecoveryCodes, current.recoveryCodes),
          // Whether it is set, and not the date: a database can store more digits than a Date has.
          current.confirmedAt
            ? isNotNull(users.twoFactorConfirmedAt)
            : isNull(users.twoFactorConfirmedAt),
        ),
      );
    return rowCount === 1;
  }

  override async create({
    identifier,
    passwordHash,
    name,
  }: NewAccount): Promise<User | null> {
    const values = { email: identifier, passwordHash, name };
    // The unique index decides. Nothing is returned for an email that is taken.
    const [user] = await this.db
      .insert(users)
      .values(values)
      .onConflictDoNothing({ target: users.email })
      .returning(SHOWN);
    return user ?? null;
  }

  // In the transaction that also records the change. The unique index decides between two users.
  override async changeEmail(
    id: string,
    { from, to }: EmailReplacement,
    transaction: Transaction,
  ): Promise<ReplacementResult> {
    if (!isId(id)) return 'stale';
    try {
      const [, count] = await transaction.query(
        'UPDATE users SET email = $3 WHERE id = $1 AND email = $2',
        [id, from, to],
      );
      return count === 1 ? 'changed' : 'stale';
    } catch (error) {
      // 23505: another user has the email.
      if ((error as { code?: unknown }).code === '23505') return 'taken';
      throw error;
    }
  }

  // In the transaction that deletes all other data of the account: both are deleted, or neither.
  override async delete(
    id: string,
    transaction: Transaction,
  ): Promise<boolean> {
    if (!isId(id)) return false;
    const [, count] = await transaction.query(
      'DELETE FROM users WHERE id = $1',
      [id],
    );
    return count === 1;
  }

  override async existingIds(
    ids: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const found = await this.db
      .select({ id: users.id })
      .from(users)
      .where(inArray(users.id, ids.filter(isId)));
    return new Set(found.map(({ id }) => id));
  }

  idOf(user: User): string {
    return user.id;
  }

  override identifierOf(user: User): string {
    return user.email;
  }
}
