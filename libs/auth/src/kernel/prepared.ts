import { sha256 } from './secrets';

/** node-postgres' client and pool: unlike TypeORM's `query` they can prepare a statement by name. */
export interface Preparing {
  query(config: { name?: string; text: string; values: unknown[] }): Promise<{ rows: Record<string, unknown>[] }>;
}

const names = new Map<string, string>();

/** A name that is the statement itself, so that two data sources behind one connection pooler agree. */
export function statementName(text: string): string {
  const known = names.get(text) ?? `svc-${sha256(text).slice(0, 16)}`;
  names.set(text, known);
  return known;
}

const STALE = new Set(['26000', '42P05', '0A000']);

/** Whether a connection pooler (26000, 42P05) or a migration (0A000) took a prepared statement from under us. */
export const isStale = (error: unknown): boolean => STALE.has((error as { code?: string } | null)?.code ?? '');
