import { readFileSync } from 'node:fs';
import { Pool } from 'pg';

/** Does what `prisma migrate deploy` does in an application, without the engine that it downloads. */
async function createUserTable(): Promise<void> {
  const pool = new Pool({ connectionString: process.env.DATABASE_URL });
  const { rows } = await pool.query<{ exists: boolean }>(
    `SELECT to_regclass('users') IS NOT NULL AS exists`,
  );
  if (!rows[0]!.exists)
    await pool.query(
      readFileSync(
        'prisma/migrations/20260101000000_users/migration.sql',
        'utf8',
      ),
    );
  await pool.end();
}
void createUserTable();
