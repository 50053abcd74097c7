import { readFileSync, readdirSync } from 'node:fs';
import { Client } from 'pg';

/** Does what `prisma migrate deploy` does, without the engine that it downloads: runs each migration once. */
async function migrate(): Promise<void> {
  const client = new Client({ connectionString: process.env.DATABASE_URL });
  await client.connect();
  await client.query('CREATE TABLE IF NOT EXISTS migrations_that_ran (name text PRIMARY KEY)');
  const folders = readdirSync('prisma/migrations', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of folders.toSorted((a, b) => a.name.localeCompare(b.name))) {
    const { rows } = await client.query('SELECT 1 FROM migrations_that_ran WHERE name = $1', [name]);
    if (rows.length > 0) continue;
    await client.query(readFileSync(`prisma/migrations/${name}/migration.sql`, 'utf8'));
    await client.query('INSERT INTO migrations_that_ran VALUES ($1)', [name]);
  }
  await client.end();
}
void migrate();
