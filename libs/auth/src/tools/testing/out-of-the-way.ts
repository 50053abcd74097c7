import type { INestApplicationContext } from '@nestjs/common';
import { Realms } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { AccountLockout } from '../../request/lockout/lockout';

/** A maximum that no test reaches. */
const UNREACHED = 1e9;

/**
 * Removes every limit of an application: the rate limits of all guards, those of `rateLimits.limiters` and of
 * `SharedThrottlerStorage`, the limits on failed attempts, and the lockout. Attempts are counted as before, but none is
 * refused; headers such as `X-RateLimit-Limit` still state the configured limits. Without effect on other applications.
 *
 * @param app after its start
 * @returns a function that restores the limits; attempts that were counted before that stay counted
 * @example outOfTheWay(app);
 * @publicApi
 */
export function outOfTheWay(app: INestApplicationContext): () => void {
  const store = app.get(SecurityStore, { strict: false });
  const count = store.count.bind(store);
  store.count = (limits, pending) =>
    count(
      limits.map((limit) => ({ ...limit, max: UNREACHED })),
      pending,
    );
  const lockouts = app
    .get(Realms, { strict: false })
    .all.map((scope) => scope.get(AccountLockout) as Partial<AccountLockout>);
  for (const lockout of lockouts)
    Object.assign(lockout, {
      secondsLocked: async () => 0,
      attempt: (_key, _field, verify) => verify(),
    } satisfies Partial<AccountLockout>);
  return () => {
    // The methods of the classes appear again.
    delete (store as Partial<SecurityStore>).count;
    for (const lockout of lockouts) {
      delete lockout.secondsLocked;
      delete lockout.attempt;
    }
  };
}
