import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres';
import type { Environment } from './environment';

/** The configured database, or an embedded PostgreSQL below the data directory. */
export async function openDatabase({ databaseUrl, dataDir }: Environment): Promise<EmbeddedPostgres> {
  if (databaseUrl) return { url: databaseUrl, stop: async () => undefined };
  return startEmbeddedPostgres(join(dataDir, 'postgres'));
}
