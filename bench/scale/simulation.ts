// Repeats the loops of the library page by page, without PostgreSQL and Redis: each step takes a time that was measured.
import { SWEEP_REST } from '../../libs/auth/src/foundation/platform/sweep';
import { PRUNED_BATCH } from '../../libs/auth/src/features/sessions/session-removal';
import { PAGE } from '../../libs/auth/src/features/sessions/session.sql';
import { LONGEST_PAUSE_MS } from '../../libs/auth/src/foundation/platform/deadline';
import { LEASE_SECONDS, LOOK_MS } from '../../libs/auth/src/identity/denylist/denylist-monitor';
import { ENDED_BATCH } from '../../libs/auth/src/identity/denylist/ended-sessions';
import type { Worked } from './work';

/** What the simulation cannot measure on one machine. */
export interface Surroundings {
  /** Milliseconds of one random read of a block that is not in memory. */
  blockMs: number;
  /** `storeTimeoutMs`: no statement and no reply may take longer. */
  timeoutMs: number;
}

/** The result of a simulated run. */
export interface Simulated {
  seconds: number;
  pages: number;
  /** The longest wait for one store. Above `storeTimeoutMs` the run ends with an error at its first page. */
  longestMs: number;
  isOverTimeout: boolean;
}

/** Rows of `svc_sessions` in a block of 8192 bytes. */
export const ROWS_PER_BLOCK = 23;

/** Blocks to read for a page of the pruning: sessions that expire together are beside each other in the table. */
const PRUNED_BLOCKS = Math.ceil(PRUNED_BATCH / ROWS_PER_BLOCK);

/**
 * Blocks to read for the end of one session in the order of the users: its row, and its places in the indexes of the ids
 * and of the deadlines. Its places in the other indexes are beside those of the previous session.
 */
const REVOKED_BLOCKS = 3;

/** Draws at random from measured values, the same ones in each run. */
function drawer(values: readonly number[]): () => number {
  let state = 1;
  return () => {
    // A linear congruential generator: the distribution matters, not the quality of the randomness.
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return values[Math.floor((state / 2_147_483_648) * values.length)] ?? 0;
  };
}

/** Adds the pages of a run. Each page is a list of waits, in milliseconds, and a pause. */
function run(pages: number, timeoutMs: number, page: () => { waits: number[]; pause?: number }): Simulated {
  let [milliseconds, longestMs] = [0, 0];
  for (let i = 0; i < pages; i++) {
    const { waits, pause = 0 } = page();
    longestMs = Math.max(longestMs, ...waits);
    milliseconds += waits.reduce((sum, ms) => sum + ms, pause);
  }
  return { seconds: milliseconds / 1000, pages, longestMs, isOverTimeout: longestMs > timeoutMs };
}

/** Prunes `rows` expired sessions: see `SessionPruning` and `sweep`. After a page it pauses `SWEEP_REST` times as long. */
export function simulatePrune(rows: number, { statement }: Worked, { blockMs, timeoutMs }: Surroundings): Simulated {
  const draw = drawer(statement);
  return run(Math.ceil(rows / PRUNED_BATCH), timeoutMs, () => {
    const ms = draw() + PRUNED_BLOCKS * blockMs;
    return { waits: [ms], pause: SWEEP_REST * ms };
  });
}

/** The result of a simulated rebuild. */
export interface Rebuilt extends Simulated {
  /** Whether the lease of the node would expire during a batch. */
  losesLease: boolean;
}

/**
 * Writes `ended` denials to an empty store: see `DenylistMonitor.repairStore`. Services that only verify answer 503 until
 * the end. The loss is noticed half an interval after it happens, on average. While the run lasts, further sessions end;
 * their entries are read, too.
 *
 * @param perSecond sessions that end in a second
 */
export function simulateRebuild(ended: number, perSecond: number, worked: Worked, around: Surroundings): Rebuilt {
  const [read, write, lease] = [drawer(worked.statement), drawer(worked.denials), drawer(worked.lease)];
  let [left, batches, milliseconds, longestMs, longestBatch] = [ended, 0, LOOK_MS / 2, 0, 0];
  // The index of ended sessions is in memory: they ended within the last minutes.
  while (left > 0) {
    const waits = [read(), write(), lease()];
    const batch = waits.reduce((sum, ms) => sum + ms, 0);
    left += (perSecond * batch) / 1000 - ENDED_BATCH;
    milliseconds += batch;
    longestMs = Math.max(longestMs, ...waits);
    longestBatch = Math.max(longestBatch, batch);
    batches++;
    // More sessions end than the node can write.
    if (batches > 10 * (ended / ENDED_BATCH + 1)) return { ...NEVER, longestMs };
  }
  const isOverTimeout = longestMs > around.timeoutMs;
  return {
    seconds: milliseconds / 1000,
    pages: batches,
    longestMs,
    isOverTimeout,
    losesLease: longestBatch > LEASE_SECONDS * 1000,
  };
}

const NEVER = { seconds: Infinity, pages: Infinity, isOverTimeout: false, losesLease: false };

/**
 * Ends `sessions` of a guard: see `Sessions.endEverything`. Each page is a statement, its denials and a commit, which have
 * one time limit together. A page that exceeds it is tried again after a pause; the blocks that it has read stay in memory.
 */
export function simulateRevocation(sessions: number, worked: Worked, { blockMs, timeoutMs }: Surroundings): Simulated {
  const [statement, denials, commit] = [drawer(worked.statement), drawer(worked.denials), drawer(worked.commit)];
  return run(Math.ceil(sessions / PAGE), timeoutMs, () => {
    const warm = statement() + denials() + commit();
    let [reads, pause] = [PAGE * REVOKED_BLOCKS * blockMs, 0];
    const first = warm + reads;
    for (; warm + reads > timeoutMs; reads -= timeoutMs) pause += timeoutMs + LONGEST_PAUSE_MS;
    return { waits: [first], pause: pause + warm + Math.max(0, reads) - first };
  });
}
