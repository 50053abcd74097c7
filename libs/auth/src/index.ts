// Module
export { AuthModule } from './auth.module';

// Injectables
export { Auth, type StartOptions } from './auth';
export { AuthEvents } from './kernel/auth-events';
export { AuthHealth, type HealthFault, type HealthResult } from './health/auth-health';
export { Clock } from './kernel/clock';
export { type Enrolment, TwoFactor } from './two-factor/two-factor';
export { Pruning, type Pruned } from './retention/pruning';
export { SharedThrottlerStorage, type ThrottlerRecord } from './throttling/shared-throttler-storage';

// Decorators and guards
export { Authenticated, CurrentCaller, CurrentUser, Public } from './http/authenticated.decorator';
export { Abilities, AnyAbility } from './abilities/abilities.decorator';
export { type DeclaredAbilities, defineAbilities } from './abilities/define-abilities';
export { tokenCan } from './abilities/token-can';
export type { TokenSource } from './tokens/token-source';
export type { UserResource } from './abilities/user-resources';
export { RequireConfirmation } from './confirmation/require-confirmation.decorator';
export { RequireVerifiedEmail } from './verified-email/require-verified-email.decorator';
export { Throttled } from './throttling/throttled.decorator';
export { AccessTokenGuard } from './http/authentication.gate';
export { type ApiDocument, describeAuth } from './openapi/describe-auth';
export { ForceJson } from './http/auth-exception.filter';
export type { Caller } from './tokens/caller';
export type { AccessClaims } from './tokens/access-token.policy';
export type { Grant } from './tokens/grant';
export type { ListedSession } from './sessions/session-list';
export type { LoginChallenge, SecondFactorMethod } from './http/login-challenge';
export type { SessionTokens } from './http/session-tokens';
export type { ClientInfo } from './http/client-info';
export type { CarriedRequest, Handshake } from './http/carried-request';

// Options
export { authOptionsFromEnv } from './config/env';
export type * from './config/auth-options';
export type { MessageKey, MessageParams, Translate } from './kernel/messages';
export type { SecurityEvent, SecurityLine } from './observability/security-line';
export type { Operation } from './observability/operations';
export type { Reason } from './observability/reasons';

// Entities and migrations
export { authEntities } from './entities';
export { authMigrations } from './migrations';
export { addTwoFactorColumns } from './migrations/two-factor-columns';
export { withAuthColumns } from './users/auth-user';
export { withTwoFactorColumns } from './users/two-factor-columns';
export { LockoutCounter } from './lockout/lockout-counter.entity';
export { Passkey } from './passkeys/passkey.entity';
export { PasswordResetToken } from './password-reset/password-reset.entity';
export { Session } from './session-state/session.entity';

// Events
export { AccountDeleted } from './account/account-deleted.event';
export { AccountDeleting } from './account/account-deleting.event';
export { MailFailed } from './mail/mail-failed.event';
export { Registered } from './registration/registered.event';
export { Verified } from './email-verification/verified.event';
export { PasswordReset } from './password-reset/password-reset.event';
export { PasswordChanged } from './change-password/password-changed.event';
export { AccountLocked } from './lockout/account-locked.event';
export { AccountReleased } from './lockout/account-released.event';
export type { LockPurpose } from './lockout/lock-key';
export { Lockout } from './login/lockout.event';
export { RecoveryCodeUsed } from './two-factor/recovery-code-used.event';
export { RecoveryCodesReplaced } from './two-factor/recovery-codes-replaced.event';
export { TwoFactorDisabled } from './two-factor/two-factor-disabled.event';
export { TwoFactorEnabled } from './two-factor/two-factor-enabled.event';
export { PasskeyAdded } from './passkeys/passkey-added.event';
export { PasskeyBackupChanged } from './passkeys/passkey-backup-changed.event';
export { PasskeyCloneDetected } from './passkeys/passkey-clone-detected.event';
export { PasskeyRemoved } from './passkeys/passkey-removed.event';
export { TokenAbilityDenied } from './abilities/token-ability-denied.event';
export {
  RefreshFamilyForked,
  RefreshTokenReused,
  type SessionEndReason,
  SessionEnded,
  SessionRecovered,
  SessionStarted,
} from './sessions/session.events';

// Exceptions
export { BadLink, OutdatedLink } from './email-verification/bad-link.exception';
export { IdentifierTaken } from './registration/identifier-taken.exception';
export { ResetFailed } from './password-reset/reset-failed.exception';
export {
  AuthConfigError,
  AuthException,
  StoreUnavailable,
  Unauthenticated,
  ValidationFailed,
} from './kernel/auth.exception';
export { AlreadyEnrolled, NotEnrolled } from './two-factor/enrolment.exception';
export { BadChallenge } from './second-step/bad-challenge.exception';
export { HasherBusy } from './password/hasher-busy.exception';
export { ConfirmationOfAnotherSession, ConfirmationRequired } from './confirmation/confirmation-required.exception';
export { EmailUnverified } from './verified-email/email-unverified.exception';
export { InsufficientScope } from './abilities/insufficient-scope.exception';
export { NoSuchPasskey } from './passkeys/no-such-passkey.exception';
export { PasskeyRefused } from './passkeys/passkey-refused.exception';
export { InvalidRefreshToken, NoSuchSession } from './sessions/session.exceptions';
export { WrongCode } from './second-step/wrong-code.exception';
export { WrongPassword } from './confirmation/wrong-password.exception';
export { AccountIsLocked } from './lockout/account-is-locked.exception';
export { TooManyFailures } from './throttling/too-many-failures.exception';
export { TooManyRequests } from './throttling/too-many-requests.exception';
export { UnverifiedLogin } from './login/unverified-login.exception';
export { WrongCredentials } from './login/wrong-credentials.exception';

// Ports
export { type Mail, Mailer } from './mail/mailer';
export { nodemailerMailer } from './mail/nodemailer-mailer';
export type { LinkMail, MailContent, MailKind, MailTemplate, MailTemplates } from './mail/mail-templates';
export { BreachedPasswords } from './password/breached-passwords';
export { PwnedPasswords } from './password/pwned-passwords';
export { PasswordVerifier } from './password/password-verifier';
export { bcryptVerifier } from './password/bcrypt-verifier';
export { pbkdf2Verifier } from './password/pbkdf2-verifier';
export { scryptVerifier } from './password/scrypt-verifier';
export type { RegistrationField, RegistrationRules } from './registration/registration-rules';
export { PasswordHasher } from './password/password-hasher';
export { type Bucket, type Limit, type Outcome, SecurityStore, type Tally } from './security-store/security-store';
export type { StoredSecondFactor } from './users/second-factor';
export { type NewAccount, type StoredCredentials, UserProvider } from './users/user-provider';
