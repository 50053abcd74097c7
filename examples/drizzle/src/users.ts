import { DrizzleUsers, type UserOf } from '@svc/auth/drizzle';
import type { Database } from './database.js';
import { users } from './schema.js';

/** The users of the table `users`. */
export const usersOf = ({ drizzle }: Database) =>
  new DrizzleUsers(drizzle, users);

/** A user without the hash and the second factor. */
export type User = UserOf<ReturnType<typeof usersOf>>;
