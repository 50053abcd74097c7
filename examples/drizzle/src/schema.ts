import { pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';

export const users = pgTable('users', {
  id: uuid().primaryKey().defaultRandom(),
  email: text().notNull().unique(),
  name: text().notNull(),
  passwordHash: text('password_hash'),
  twoFactorSecret: text('two_factor_secret'),
  twoFactorRecoveryCodes: text('two_factor_recovery_codes'),
  twoFactorConfirmedAt: timestamp('two_factor_confirmed_at', {
    withTimezone: true,
  }),
});
