/**
 * Sessions whose tokens are of no use without a key of the client (RFC 9449). For code that runs in Nest.
 *
 * ```ts
 * import { RequireBoundToken } from '@svc/auth/bound-sessions';
 * ```
 *
 * @module @svc/auth/bound-sessions
 */
export { RequireBoundToken } from './require-bound-token';
export { InvalidProof, ProofRefused, UnprovedToken } from './bound-sessions.errors';
export { BoundTokenRefused } from './bound-sessions.events';
export { DeviceProofRefused } from './device/device-sessions';
export type { BoundSessionsOptions } from './bound-sessions.options';
export type { ProofFault } from './proof.policy';
