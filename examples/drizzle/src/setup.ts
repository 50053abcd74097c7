import { migrateAuth } from '@svc/auth';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import { Pool } from 'pg';

/** Creates the tables: those of the library, and the users. */
async function setup(): Promise<void> {
  const pool = new Pool({ connectionString: process.env.DATABASE_URL });
  await migrateAuth(pool);
  await migrate(drizzle(pool), { migrationsFolder: 'drizzle' });
  await pool.end();
}
void setup();
