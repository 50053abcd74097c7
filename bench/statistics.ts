/** The value below which a share of the sample lies, 0 to 1. Nearest rank. */
export function quantile(values: readonly number[], share: number): number {
  const ordered = [...values].sort((a, b) => a - b);
  return ordered[Math.min(ordered.length - 1, Math.floor(share * ordered.length))] ?? NaN;
}

/** The middle value; robust against a sample that another process disturbed. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);

/**
 * The probability that a random `b` is larger than a random `a`, ties counted half (Mann-Whitney U,
 * the area under the ROC curve). 0.5 says that one value cannot tell which sample it is from.
 */
export function probabilityLarger(a: readonly number[], b: readonly number[]): number {
  const wins = b.flatMap((y) => a.map((x) => (y > x ? 1 : y === x ? 0.5 : 0)));
  return wins.reduce<number>((sum, win) => sum + win, 0) / wins.length;
}

/** How far {@link probabilityLarger} strays from 0.5 by chance, in 95 of 100 runs, for two samples of `n`. */
export const chanceDeviation = (n: number): number => 1.96 * Math.sqrt((2 * n + 1) / (12 * n * n));
