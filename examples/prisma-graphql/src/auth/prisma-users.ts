import { PrismaUsers } from '@svc/auth/prisma';
import type { PrismaService } from '../common/prisma/prisma.service.js';

/**
 * The time of the database. It dates accounts: the processes of an application can have different clocks, and Prisma would
 * take that of this process.
 */
export async function timeOf(prisma: PrismaService): Promise<Date> {
  const [row] = await prisma.$queryRaw<{ now: Date }[]>`SELECT now()`;
  return row!.now;
}

/** The table of the users as it is: ids of `cuid()`, and the hash in the column `password`. Resolvers get users without it. */
export const usersOf = (prisma: PrismaService) =>
  new PrismaUsers(prisma, {
    fields: { passwordHash: 'password', createdAt: 'createdAt' },
    newUser: () => ({ role: 'USER' }),
  });
