/** Seconds after which the denylist is told again although nothing shows a loss. */
export const REPAIR_SECONDS = 60;

/** What a process knows of the store. */
export interface Knowledge {
  /** The connection that it was learned on. */
  readonly connection: number;
  readonly epoch: string;
}

/** One answer of the store: the key of the epoch asked for, and the connection before and after. */
export interface Reading {
  /** Null where the key is gone. */
  readonly mark: string | null;
  readonly before: number;
  readonly after: number;
}

/**
 * Whether a store that names no denial has lost none. Its epoch's key was written before the rebuild read
 * PostgreSQL, and never again: where it is, nothing went since. On another connection it may be a copy that
 * lags behind, which has the key and lacks what came after.
 */
export const isWhole = (known: Knowledge | null, { mark, before, after }: Reading): boolean =>
  known !== null && mark !== null && before === after && known.connection === after;

/** A finished rebuild that the store names, as PostgreSQL tells of it. */
export interface Candidate {
  /** Null for one that this database has never heard of: another application's. */
  readonly row: { readonly number: number; readonly age: number } | null;
  /** Whether its key is in the store. */
  readonly alive: boolean;
}

/**
 * Whether to rely on the rebuild of another process. Only if it began after `floor`, the latest number when this
 * process connected: an earlier one may have gone to a server that is no longer there.
 */
export const mayAdopt = ({ row, alive }: Candidate, floor: number): boolean =>
  alive && row !== null && row.number > floor && row.age < REPAIR_SECONDS;
