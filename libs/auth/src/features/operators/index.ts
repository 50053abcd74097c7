/**
 * Operators: see and help users, act as a user, the history of accounts. For code that runs in Nest.
 *
 * ```ts
 * import { Operators } from '@svc/auth/operators';
 * ```
 *
 * @module @svc/auth/operators
 */
export { AuditKey, AuditLine } from './trail/audit.entity';
export { actingAs } from './trail/audit-trail';
export { HistoryFlow } from './trail/history.controller';
export type { AuditEntry, AuditedLine, HistoryLine, HistoryPage } from './trail/audit.store';
export type { AuditOptions } from './trail/audit.options';
export type { AuditActor, HistoryQuery } from './trail/audit.policy';
