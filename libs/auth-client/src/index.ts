export { createAuthClient } from './client.js';
export { AuthError, type AuthErrorReason } from './errors.js';
export type {
  AccessClaims,
  AuthClient,
  AuthClientEvents,
  AuthClientOptions,
  AuthSession,
  ConfirmationMethod,
  DeviceSession,
  LoginChallenge,
  Passkey,
  PasskeyList,
  RefreshTokenPlace,
  Registration,
  SecondFactor,
  SignedInEvent,
  SignedOutEvent,
  RenewedEvent,
} from './types.js';
