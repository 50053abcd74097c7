/**
 * Operators: see and help users, act as a user, the history of accounts. For code that runs in Nest.
 *
 * ```ts
 * import { Operators } from '@svc/auth/operators';
 * ```
 *
 * @module @svc/auth/operators
 */
export {};
