/**
 * Operators: see and help the accounts of users, suspend them, and act as them. For code that runs in Nest.
 *
 * ```ts
 * import { Actor, RefuseActor } from '@svc/auth/operators';
 * ```
 *
 * @module @svc/auth/operators
 */
export { Actor, type ActingOperator, type ActingToken, RefuseActor } from './acting';
export type { FoundUser, OperatedAccount } from './operator-view';
export { OperatorFlow } from './operators.controller';
export { ActorRefused, NotApplicable, OperatorProtected, UserNotFound } from './operators.errors';
export { OperatorActed } from './operators.events';
export type { OperatorsOptions } from './operators.options';
export { OPERATOR_ABILITIES } from './operators.policy';
export { Suspension } from './suspension';
export { AuditKey, AuditLine } from './trail/audit.entity';
export { actingAs } from './trail/audit-trail';
export { HistoryFlow } from './trail/history.controller';
export type { AuditOptions } from './trail/audit.options';
export type { AuditActor } from './trail/audit.policy';
export type { AuditedLine, HistoryLine, HistoryPage } from './trail/audit.store';
export { SecurityEventRow } from './delivery/security-event.entity';
export { SecurityEventDelivery } from './delivery/security-event-delivery';
export type { SecurityEventReceiver, SecurityEventsOptions } from './delivery/security-events.options';
