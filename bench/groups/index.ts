import { FEATURES } from './features';
import type { Group } from './group';
import { GUARDED } from './guarded';
import { LOGIN } from './login';
import { LOGOUT } from './logout';
import { REFRESH } from './refresh';
import { REVOKE } from './revoke';

/** The groups in their order, by their names in `BENCH_ONLY`. */
export const GROUPS: Readonly<Record<string, Group>> = {
  guarded: GUARDED,
  refresh: REFRESH,
  login: LOGIN,
  logout: LOGOUT,
  revoke: REVOKE,
  features: FEATURES,
};
