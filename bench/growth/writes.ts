import { setTimeout as sleep } from 'node:timers/promises';
import { dataSourceOf } from '../../test/support/stores/database';
import type { DataSource } from 'typeorm';
import type { Deployment } from './deployment';

/** What refreshes have written. */
export interface Writes {
  /** Bytes of WAL for one refresh: the first one of its session after a checkpoint, and the next one. */
  wal: { first: number; next: number };
  /** The number of sessions of this measurement. */
  sessions: number;
  /** The number of refreshes since the database was filled. */
  refreshes: number;
  /** The rows of `svc_sessions` that they inserted. */
  inserted: number;
  /** The share of their updates that wrote no index entry. */
  hot: number;
  /** The growth of `svc_sessions` and its indexes in bytes. */
  grown: number;
}

const SESSIONS = 1000;
/** An idle connection of the server reports its statistics after ten seconds. */
const MOST_SECONDS = 60;

/**
 * Refreshes some sessions twice, one request after the other, and reads what all refreshes have written so far.
 * @throws if a refresh did not update exactly one row
 */
export async function measureWrites(side: Deployment): Promise<Writes> {
  const source = await dataSourceOf(side.stores.databaseUrl).initialize();
  try {
    const { tokens } = side.filled;
    let measured = tokens.splice(0, Math.min(SESSIONS, Math.floor(tokens.length / 2)));
    const walOfEach = async (): Promise<number> => {
      const before = await walPosition(source);
      const next: string[] = [];
      for (const token of measured) next.push((await side.exchange(token)).next);
      measured = next;
      return ((await walPosition(source)) - before) / measured.length;
    };
    await source.query('CHECKPOINT');
    const wal = { first: await walOfEach(), next: await walOfEach() };
    tokens.push(...measured);
    return { wal, sessions: measured.length, ...(await written(source, side)) };
  } finally {
    await source.destroy();
  }
}

/** The bytes of WAL that the server has written since it was created. */
export async function walPosition(source: DataSource): Promise<number> {
  const [{ bytes }] = await source.query<[{ bytes: number }]>(
    `SELECT (pg_current_wal_insert_lsn() - '0/0')::float8 AS bytes`,
  );
  return bytes;
}

async function written(source: DataSource, side: Deployment): Promise<Omit<Writes, 'wal' | 'sessions'>> {
  const { filled, refreshed } = side;
  for (let waited = 0; ; waited++) {
    const [{ inserted, updated, hot, size }] = await source.query<
      [Record<'inserted' | 'updated' | 'hot' | 'size', number>]
    >(`
      SELECT n_tup_ins::float8 AS inserted, n_tup_upd::float8 AS updated, n_tup_hot_upd::float8 AS hot,
             pg_total_relation_size(relid)::float8 AS size
        FROM pg_stat_user_tables WHERE relname = 'svc_sessions'`);
    if (updated === refreshed)
      return {
        refreshes: refreshed,
        inserted: inserted - filled.sessions,
        hot: hot / updated,
        grown: size - filled.bytes.table - filled.bytes.indexes,
      };
    if (updated > refreshed || waited === MOST_SECONDS)
      throw new Error(`${refreshed} refreshes updated ${updated} rows of svc_sessions`);
    await sleep(1000);
  }
}
