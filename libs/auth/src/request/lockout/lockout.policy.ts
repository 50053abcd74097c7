/** A lock as the database reads it; times in unix seconds of the database's clock. */
export interface Lock {
  readonly lockedAt: number | null;
  readonly now: number;
}

/**
 * Whole seconds a lock still holds: 0 once it has let go, Infinity until someone releases it.
 *
 * @param releaseAfter seconds after which a lock lets go by itself; 0 never
 */
export function secondsHeld({ lockedAt, now }: Lock, releaseAfter: number): number {
  if (lockedAt === null) return 0;
  if (releaseAfter === 0) return Infinity;
  return Math.max(0, Math.ceil(lockedAt + releaseAfter - now));
}
