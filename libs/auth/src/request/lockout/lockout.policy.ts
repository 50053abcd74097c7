/** A lock counter as read from the database. Times are unix seconds of the database's clock. */
export interface Lock {
  readonly lockedAt: number | null;
  readonly now: number;
}

/**
 * Returns the whole seconds until a lock ends: 0 without a lock or after its end, Infinity for a lock that ends only
 * when it is released.
 *
 * @param releaseAfter seconds after which a lock ends automatically; 0 means never
 */
export function secondsHeld({ lockedAt, now }: Lock, releaseAfter: number): number {
  if (lockedAt === null) return 0;
  if (releaseAfter === 0) return Infinity;
  return Math.max(0, Math.ceil(lockedAt + releaseAfter - now));
}
