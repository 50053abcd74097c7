import type { Bucket, Limit, Tally } from '../../foundation/security-store/security-store';

/** What a caller is told of the limits on its request. */
export interface LimitState {
  /** Attempts the tightest limit allows in its window. */
  readonly limit: number;
  /** Attempts it has left; 0 once one was refused. */
  readonly remaining: number;
  /** Whole seconds until another attempt can pass; 0 while one can. */
  readonly retryAfter: number;
}

/** Where an attempt leaves its caller: what the tightest limit says, or what the longest wait does. */
export function limitState(limits: readonly Limit[], { admitted, buckets }: Tally): LimitState {
  const all = limits.map(({ max }, i) => ofOne(max, buckets[i]!));
  if (admitted) return { ...least(all, ({ remaining }) => remaining), retryAfter: 0 };
  const exhausted = all.filter(({ remaining }) => remaining === 0);
  return least(exhausted, ({ retryAfter }) => -retryAfter);
}

function ofOne(max: number, { counted, pending, secondsLeft }: Bucket): LimitState {
  return {
    limit: max,
    remaining: Math.max(0, max - counted - pending),
    retryAfter: Math.max(1, Math.ceil(secondsLeft)),
  };
}

const least = (all: readonly LimitState[], by: (one: LimitState) => number): LimitState =>
  all.reduce((best, one) => (by(one) < by(best) ? one : best));
