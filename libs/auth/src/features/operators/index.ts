/**
 * Operators: see and help users, act as a user, the history of accounts. For code that runs in Nest.
 *
 * ```ts
 * import { Operators } from '@svc/auth/operators';
 * ```
 *
 * @module @svc/auth/operators
 */
export { SecurityEventRow } from './delivery/security-event.entity';
export { SecurityEventDelivery } from './delivery/security-event-delivery';
export type { SecurityEventReceiver, SecurityEventsOptions } from './delivery/security-events.options';
