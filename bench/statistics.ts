/** The value below which a share (0 to 1) of the sample lies. Nearest rank. */
export function quantile(values: readonly number[], share: number): number {
  const ordered = [...values].sort((a, b) => a - b);
  return ordered[Math.min(ordered.length - 1, Math.floor(share * ordered.length))] ?? NaN;
}

/** The median. It is robust against a sample that another process disturbed. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);

/**
 * The probability that a random `b` is larger than a random `a`, ties counted half (Mann-Whitney U,
 * the area under the ROC curve). 0.5 means that a value does not show from which sample it is.
 */
export function probabilityLarger(a: readonly number[], b: readonly number[]): number {
  const wins = b.flatMap((y) => a.map((x) => (y > x ? 1 : y === x ? 0.5 : 0)));
  return wins.reduce<number>((sum, win) => sum + win, 0) / wins.length;
}

/** The random deviation of {@link probabilityLarger} from 0.5 in 95 of 100 runs, for two samples of size `n`. */
export const chanceDeviation = (n: number): number => 1.96 * Math.sqrt((2 * n + 1) / (12 * n * n));
