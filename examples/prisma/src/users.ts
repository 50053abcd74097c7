import { Injectable } from '@nestjs/common';
import {
  type EmailReplacement,
  type NewAccount,
  type ReplacementResult,
  type StoredCredentials,
  type StoredSecondFactor,
  UserProvider,
} from '@svc/auth';
import { Database } from './database.js';
import { Prisma } from './generated/client.js';

/** The columns that routes and responses may have: no hash, and no second factor. */
const SHOWN = { id: true, email: true, name: true } satisfies Prisma.UserSelect;

export type User = Prisma.UserGetPayload<{ select: typeof SHOWN }>;

type Transaction = Parameters<NonNullable<UserProvider['delete']>>[1];

/** The form of the ids in the table. PostgreSQL also accepts other forms. Prisma throws for a text that is not a UUID. */
const isId = (id: unknown): boolean =>
  typeof id === 'string' &&
  /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(id);

@Injectable()
export class PrismaUsers extends UserProvider<User> {
  constructor(private readonly database: Database) {
    super();
  }

  private get users() {
    return this.database.prisma.user;
  }

  async findById(id: string): Promise<User | null> {
    return isId(id)
      ? this.users.findUnique({ where: { id }, select: SHOWN })
      : null;
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
    const found = await this.users.findMany({
      where: { email: { in: texts } },
      select: { ...SHOWN, passwordHash: true },
    });
    return found.map(({ passwordHash, ...user }) => ({ user, passwordHash }));
  }

  async passwordHashOf(id: string): Promise<string | null> {
    if (!isId(id)) return null;
    const found = await this.users.findUnique({
      where: { id },
      select: { passwordHash: true },
    });
    return found?.passwordHash ?? null;
  }

  async savePasswordHash(
    id: string,
    passwordHash: string,
    replacing?: string | null,
  ): Promise<boolean> {
    // Prisma takes `id: undefined` as no condition, and would change every user.
    if (!isId(id)) return false;
    const current = replacing === undefined ? {} : { passwordHash: replacing };
    const { count } = await this.users.updateMany({
      where: { id, ...current },
      data: { passwordHash },
    });
    return count === 1;
  }

  override async secondFactorOf(
    id: string,
  ): Promise<StoredSecondFactor | null> {
    if (!isId(id)) return null;
    const select = {
      twoFactorSecret: true,
      twoFactorRecoveryCodes: true,
      twoFactorConfirmedAt: true,
    };
    const found = await this.users.findUnique({ where: { id }, select });
    return (
      found && {
        secret: found.twoFactorSecret,
        recoveryCodes: found.twoFactorRecoveryCodes,
        confirmedAt: found.twoFactorConfirmedAt,
      }
    );
  }

  override async replaceSecondFactor(
    id: string,
    current: StoredSecondFactor,
    next: StoredSecondFactor,
  ): Promise<boolean> {
    if (!isId(id)) return false;
    const { count } = await this.users.updateMany({
      where: {
        id,
        twoFactorSecret: current.secret,
        twoFactorRecoveryCodes: current.recoveryCodes,
        // Whether it is set, and not the date: a database can store more digits than a Date has.
        twoFactorConfirmedAt: current.confirmedAt ? { not: null } : null,
      },
      data: {
        twoFactorSecret: next.secret,
        twoFactorRecoveryCodes: next.recoveryCodes,
        twoFactorConfirmedAt: next.confirmedAt,
      },
    });
    return count === 1;
  }

  override async create({
    identifier,
    passwordHash,
    name,
  }: NewAccount): Promise<User | null> {
    try {
      return await this.users.create({
        data: { email: identifier, passwordHash, name },
        select: SHOWN,
      });
    } catch (error) {
      // P2002: a unique index has found another user. A conflict on another column than the email is an error.
      const isConflict =
        error instanceof Prisma.PrismaClientKnownRequestError &&
        error.code === 'P2002';
      if (
        isConflict &&
        (await this.users.findUnique({ where: { email: identifier } }))
      )
        return null;
      throw error;
    }
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
    const found = await this.users.findMany({
      where: { id: { in: ids.filter(isId) } },
      select: { id: true },
    });
    return new Set(found.map(({ id }) => id));
  }

  idOf(user: User): string {
    return user.id;
  }

  override identifierOf(user: User): string {
    return user.email;
  }
}
