import type { GuardConfig } from './auth-config';

/** The names of two guards that nothing but the host name tells apart, or undefined. Pure. */
export function sharedPath(guards: readonly Pick<GuardConfig, 'guard' | 'path'>[]): [string, string] | undefined {
  for (const [i, { guard, path }] of guards.entries()) {
    const other = guards.slice(i + 1).find((one) => one.path === path);
    if (other) return [guard, other.guard];
  }
  return undefined;
}
