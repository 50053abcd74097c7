import { PrismaUsers, type UserOf } from '@svc/auth/prisma';
import type { Database } from './database.js';

/** The users of the model `User`. */
export const usersOf = ({ prisma }: Database) => new PrismaUsers(prisma);

/** A user without the hash and the second factor. */
export type User = UserOf<ReturnType<typeof usersOf>>;
