/** How often a race is run. `TEST_ROUNDS=20 npx jest test/concurrency` runs every race twenty times as often. */
export const rounds = (usual: number): number => usual * Number(process.env.TEST_ROUNDS ?? 1);

/** Milliseconds for a test of races, also where they are run more often. */
export const RACES_MS = 900_000;
