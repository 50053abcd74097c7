/** Signing in: sessions, second factors, confirmations, the end of what a user has open. */
export type { LoginChallengeOptions } from '../features/login-challenge/challenge.options';
export { ChallengeRequest } from '../features/login-challenge/challenge';
export {
  BadEnrolment,
  EnrolmentRequest,
  type EnrolmentSession,
  LoginEnrolments,
} from '../features/login-challenge/login-enrolments';
export { RequiredFactors } from '../features/login-challenge/required-factors';
export {
  type FactorMatch,
  GuardFactors,
  SecondFactor,
  UsedCode,
  WrongCode,
} from '../features/login-challenge/second-factor';
export {
  type AccountCredential,
  type AccountFields,
  AccountOpening,
  IdentifierTaken,
  type RegistrationAnswer,
  type RegistrationReceived,
} from '../features/login/account-opening';
export { Lockout, type LoginAnswer, type RenewedHash } from '../features/login/login';
export {
  AccountRecovery,
  type KeptLinks,
  PasswordReplacement,
  PasswordReset,
} from '../features/login/password-replacement';
export { ChangePasswordRequest } from '../features/login/password-change';
export { SignInWays } from '../features/login/sign-in-ways';
export { Accounts, type NamedCredential, type TakenAccount } from '../features/sessions/accounts';
export type { StoredSession } from '../features/sessions/new-sessions';
export { PinnedSessions } from '../features/sessions/pinned-ability.gate';
export { RequestSessions } from '../features/sessions/request-sessions';
export { SessionErasure } from '../features/sessions/session-removal';
export { SessionList } from '../features/sessions/session-list';
export {
  ACTING,
  type Beside,
  type EndedRow,
  type NewSession,
  Session,
  type SessionOrigin,
  type SignInOrigin,
} from '../features/sessions/session.entity';
export { SessionStore } from '../features/sessions/session.store';
export { SessionEnded, type SessionEndReason, type SignInDevice } from '../features/sessions/sessions.events';
export { SessionNotFound } from '../features/sessions/sessions.errors';
export { type SessionEnding, Sessions } from '../features/sessions/sessions';
export {
  type AdmittedSignIn,
  type SessionAddition,
  SignIn,
  type SignInEnding,
  UnverifiedBlock,
} from '../features/sessions/sign-in';
export { ConfirmationFactors } from '../features/step-up/confirmation-factors';
export { Confirmations, type ConfirmedRequest } from '../features/step-up/confirmations';
export { ConfirmPasswordRequest, CurrentPassword } from '../features/step-up/password-confirmation';
export { ConfirmationRequired, WrongPassword } from '../features/step-up/step-up.errors';
export type { TokenType } from '../foundation/ports/presenter';
