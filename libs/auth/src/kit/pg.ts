/** Queries and transactions on PostgreSQL, their errors, and sweeps over a table. */
export { Database, LOCK_UNTIL_COMMIT, type Sql, isUuid, quoted, quotedPath } from '../foundation/platform/database';
export { refuseWithin } from '../foundation/platform/host-transaction';
export { unitOfWork } from '../foundation/platform/unit-of-work';
export { isLockTimeout, isMissing, isUnstorable } from '../foundation/platform/pg-errors';
export { FIRST_ID, Places, type SweptPage, once, sweep, sweepOrphans } from '../foundation/platform/sweep';
