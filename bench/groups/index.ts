import type { Group } from './group';
import { GUARDED } from './guarded';
import { REFRESH } from './refresh';

/** The groups in their order, by the name that `BENCH_ONLY` takes. */
export const GROUPS: Readonly<Record<string, Group>> = {
  guarded: GUARDED,
  refresh: REFRESH,
};
