import { join } from 'node:path';
import type { Environment } from '../environment';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres';

/** The database of `DATABASE_URL`. Without it, an embedded PostgreSQL in the data directory. */
export async function openDatabase({ databaseUrl, development }: Environment): Promise<EmbeddedPostgres> {
  if (databaseUrl) return { url: databaseUrl, stop: async () => undefined };
  return startEmbeddedPostgres(join(development.dataDir, 'postgres'));
}
