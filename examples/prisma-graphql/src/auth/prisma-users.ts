import { Injectable } from '@nestjs/common';
import { type StoredCredentials, UserProvider } from '@svc/auth';
import { PrismaService } from '../common/prisma/prisma.service.js';
import { Prisma, type User as UserRow } from '../generated/client.js';

/** What resolvers get: without the hash. */
export type SignedInUser = Omit<UserRow, 'password'>;

const WITHOUT_PASSWORD = { password: true } satisfies Prisma.UserOmit;

/** PostgreSQL stores no NUL, and Prisma takes `undefined` as no condition. */
const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0');

/**
 * The time of the database. It dates accounts: the processes of an application can have different clocks, and Prisma would
 * take that of this process.
 */
export async function timeOf(prisma: PrismaService): Promise<Date> {
  const [row] = await prisma.$queryRaw<{ now: Date }[]>`SELECT now()`;
  return row!.now;
}

/** The table of the users as it is: ids of `cuid()`, and the hash in the column `password`. */
@Injectable()
export class PrismaUsers extends UserProvider<SignedInUser> {
  constructor(private readonly prisma: PrismaService) {
    super();
  }

  async findById(id: string): Promise<SignedInUser | null> {
    return isText(id) ? this.prisma.user.findUnique({ where: { id }, omit: WITHOUT_PASSWORD }) : null;
  }

  async findByIdentifier(identifier: string): Promise<StoredCredentials<SignedInUser> | null> {
    const [found] = await this.findByEmails([identifier.trim().toLowerCase()]);
    return found ?? null;
  }

  override async findByEmails(emails: readonly string[]): Promise<StoredCredentials<SignedInUser>[]> {
    const found = await this.prisma.user.findMany({ where: { email: { in: emails.filter(isText) } } });
    return found.map(({ password: passwordHash, ...user }) => ({ user, passwordHash }));
  }

  async passwordHashOf(id: string): Promise<string | null> {
    if (!isText(id)) return null;
    return (await this.prisma.user.findUnique({ where: { id }, select: { password: true } }))?.password ?? null;
  }

  async savePasswordHash(id: string, password: string, replacing?: string | null): Promise<boolean> {
    // The column takes no null, so no user is without a password.
    if (!isText(id) || replacing === null) return false;
    // One statement: `where` compares, and `count` says whether it stored.
    const { count } = await this.prisma.user.updateMany({ where: { id, password: replacing }, data: { password } });
    return count === 1;
  }

  override async currentMark(): Promise<string> {
    return (await timeOf(this.prisma)).toISOString();
  }

  override async wasCreatedSince(id: string, mark: string): Promise<boolean> {
    if (!isText(id)) return false;
    return (await this.prisma.user.count({ where: { id, createdAt: { gte: new Date(mark) } } })) === 1;
  }

  idOf(user: SignedInUser): string {
    return user.id;
  }

  override identifierOf(user: SignedInUser): string {
    return user.email;
  }
}
