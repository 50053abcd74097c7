import type { AuthHooks, RegistrationRules } from '@svc/auth';
import type { PrismaService } from '../common/prisma/prisma.service.js';
import { Prisma } from '../generated/client.js';
import { timeOf } from './prisma-users.js';

/** The fields of a signup. The library also applies its rules for passwords. */
export const signupRules: RegistrationRules = {
  email: { email: true },
  password: {},
  firstname: { optional: true },
  lastname: { optional: true },
};

/** Creates the account; null if the email is taken. */
export const createUser =
  (prisma: PrismaService): NonNullable<AuthHooks['register']> =>
  async (fields, { hash }) => {
    const { password, ...profile } = fields as { email: string; password: string; firstname: string; lastname: string };
    const dated = { createdAt: await timeOf(prisma) };
    try {
      return await prisma.user.create({ data: { ...profile, ...dated, password: await hash(password), role: 'USER' } });
    } catch (e) {
      if (e instanceof Prisma.PrismaClientKnownRequestError && e.code === 'P2002') return null;
      throw e;
    }
  };
