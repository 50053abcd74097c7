/** The number of runs of a race, or of a property. `TEST_ROUNDS=20 npx jest test/concurrency` runs each of them twenty times as often. */
export const rounds = (usual: number): number => usual * Number(process.env.TEST_ROUNDS ?? 1);

/** The time limit in milliseconds for a test of races, sufficient for a larger `TEST_ROUNDS`. */
export const RACES_MS = 900_000;
