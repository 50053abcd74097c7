/**
 * The client for browsers: it signs in, keeps the session of a page in all tabs, and sends requests with its token. It has no
 * dependencies.
 *
 * ```ts
 * import { createAuthClient } from '@svc/auth-client';
 * ```
 *
 * @module @svc/auth-client
 */

export { createAuthClient } from './client.js';
export { AuthError, type AuthErrorReason } from './errors.js';
export type {
  AccessClaims,
  AuthClient,
  AuthClientEvents,
  AuthClientOptions,
  AuthSession,
  BoundRequests,
  ChallengeFields,
  ConfirmationMethod,
  DeviceSession,
  EnrolmentChallenge,
  GuardRoutes,
  LoginChallenge,
  RefreshTokenPlace,
  Registration,
  SecondFactor,
  SignInFields,
  SignedInEvent,
  NotRestoredEvent,
  SignedOutEvent,
  RenewedEvent,
  TokenStorage,
} from './types.js';
