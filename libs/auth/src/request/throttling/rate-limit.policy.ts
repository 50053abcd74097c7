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

/** Returns the state of the limit with the fewest attempts left, or with the longest wait if the attempt was refused. */
export function limitState(limits: readonly Limit[], { admitted, buckets }: Tally): LimitState {
  const all = limits.map(({ max }, i) => stateOf(max, buckets[i]!));
  if (admitted) return { ...least(all, ({ remaining }) => remaining), retryAfter: 0 };
  const exhausted = all.filter(({ remaining }) => remaining === 0);
  return least(exhausted, ({ retryAfter }) => -retryAfter);
}

function stateOf(max: number, { counted, pending, secondsLeft }: Bucket): LimitState {
  return {
    limit: max,
    remaining: Math.max(0, max - counted - pending),
    retryAfter: Math.max(1, Math.ceil(secondsLeft)),
  };
}

const least = (states: readonly LimitState[], by: (state: LimitState) => number): LimitState =>
  states.reduce((best, state) => (by(state) < by(best) ? state : best));
