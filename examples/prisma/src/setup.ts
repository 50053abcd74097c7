import { migrateAuth } from '@svc/auth';
import { readFileSync } from 'node:fs';
import { Pool } from 'pg';

/** Creates the tables: those of the library, and the users, which `prisma migrate deploy` creates in an application. */
async function setup(): Promise<void> {
  const pool = new Pool({ connectionString: process.env.DATABASE_URL });
  await migrateAuth(pool);
  const { rows } = await pool.query<{ exists: boolean }>(`SELECT to_regclass('users') IS NOT NULL AS exists`);
  if (!rows[0]!.exists) await pool.query(readFileSync('prisma/migrations/20260101000000_users/migration.sql', 'utf8'));
  await pool.end();
}
void setup();
