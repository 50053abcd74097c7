import type { Bucket, Limit, Tally } from '../../foundation/security-store/security-store';

/** The state of the limits that the response headers report. */
export interface LimitState {
  /** Attempts that the strictest limit allows in its period. */
  readonly limit: number;
  /** Attempts that are left; 0 for a refused attempt. */
  readonly remaining: number;
  /** Whole seconds until the next attempt is possible; 0 if one is possible now. */
  readonly retryAfter: number;
}

/** An empty counter. A store that expires counters while it counts may return none. */
const EMPTY: Bucket = { counted: 0, pending: 0, secondsLeft: 0 };

/**
 * Returns the state of the limit with the fewest attempts left, or with the longest wait if the attempt was refused. If the
 * window of the limit that refused has ended in the meantime, the next attempt is possible after a second.
 */
export function limitState(limits: readonly Limit[], { admitted, buckets }: Tally): LimitState {
  const all = limits.map(({ max }, i) => stateOf(max, buckets[i]));
  if (admitted) return { ...strictest(all), retryAfter: 0 };
  const exhausted = all.filter(({ remaining }) => remaining === 0);
  if (!exhausted.length) return { ...strictest(all), remaining: 0, retryAfter: 1 };
  return exhausted.reduce((longest, state) => (state.retryAfter > longest.retryAfter ? state : longest));
}

function stateOf(max: number, { counted, pending, secondsLeft }: Bucket = EMPTY): LimitState {
  return {
    limit: max,
    remaining: Math.max(0, max - counted - pending),
    retryAfter: Math.max(1, Math.ceil(secondsLeft)),
  };
}

/** The state with the fewest attempts left. */
const strictest = (states: readonly LimitState[]): LimitState =>
  states.reduce((best, state) => (state.remaining < best.remaining ? state : best), states[0] ?? NO_LIMIT);

const NO_LIMIT: LimitState = { limit: 0, remaining: 0, retryAfter: 0 };
