/** What a process of the library does with many sessions. */
export type Work = 'prune' | 'rebuild' | 'revoke';

/** The steps of a page of such work. */
export const STEPS = ['statement', 'denials', 'commit', 'lease'] as const;
export type Step = (typeof STEPS)[number];

/**
 * The duration of each step in milliseconds, in order, the number of rows, the time of all of it, and the resident memory of
 * the process after it in MiB.
 */
export type Worked = Record<Step, number[]> & { rows: number; seconds: number; rss: number };
