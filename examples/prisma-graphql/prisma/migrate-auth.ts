import { migrateAuth } from '@svc/auth';
import { Pool } from 'pg';

/** Creates the tables of the library. */
async function migrate(): Promise<void> {
  const pool = new Pool({ connectionString: process.env.DATABASE_URL });
  await migrateAuth(pool);
  await pool.end();
}
void migrate();
