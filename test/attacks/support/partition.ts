/**
 * The values that one of several equivalent places tests. All places together test every value. With `TEST_ROUNDS=2`,
 * each place tests all values.
 *
 * @param place the index of the place
 * @param parts the number of places that share one value
 */
export const partition = <T>(values: readonly T[], place: number, parts: number): T[] =>
  process.env.TEST_ROUNDS ? [...values] : values.filter((_, i) => i % parts === place % parts);
