/**
 * What is tried at one of many places that refuse alike: so many places together try every value. With `TEST_ROUNDS=2`,
 * each place tries all.
 *
 * @param place the number of the place
 * @param parts how many places one value is spread over
 */
export const partition = <T>(values: readonly T[], place: number, parts: number): T[] =>
  process.env.TEST_ROUNDS ? [...values] : values.filter((_, i) => i % parts === place % parts);
