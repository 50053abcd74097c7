/**
 * The library, for the server: the module, its decorators and guards, its services, its options, and the ports that an
 * application can implement.
 *
 * ```ts
 * import { AuthModule, Authenticated, CurrentUser } from '@svc/auth';
 * ```
 *
 * @module @svc/auth
 */

// Module
export { AuthModule } from './auth.module';

// Injectables
export { Auth, type StartOptions } from './auth';
export { ChallengeFlow, type SecondFactorAnswer } from './features/login-challenge/challenge.controller';
export { type LoginInput, LoginFlow } from './features/login/login.controller';
export { SessionFlow } from './features/sessions/sessions.controller';
export { KnownDeviceFlow } from './features/known-devices/known-devices.controller';
export { ConfirmationFlow } from './features/step-up/confirm-password.controller';
export { TrustedDeviceFlow } from './features/login-challenge/trusted-devices.controller';
export { RequiredEnrolmentFlow } from './features/two-factor/required-two-factor';
export { EnrolmentFlow } from './features/two-factor/two-factor.controller';
export { type PasskeyAnswer, PasskeyFlow } from './features/passkeys/passkey-flow';
export { RegistrationFlow } from './features/registration/registration-flow';
export type { RegistrationAnswer, RegistrationReceived } from './features/registration/registration';
export { type NewPassword, PasswordChangeFlow } from './features/change-password/change-password.controller';
export { PasswordResetFlow, type ResetInput } from './features/password-reset/password-reset.controller';
export { type EmailCodeAnswer, EmailCodeFlow } from './features/email-code/email-code.controller';
export type { RequestedCode } from './features/email-code/email-code-requests';
export {
  EmailVerificationFlow,
  type VerificationLink,
} from './features/email-verification/email-verification.controller';
export { EmailChangeFlow } from './features/email-change/email-change.controller';
export { UsernameChangeFlow } from './features/username-change/username-change.controller';
export { AccountFlow } from './features/account/account.controller';
export type { ExportedAccount } from './features/account/account-export';
export type { ExportedEmailChange } from './features/email-change/email-change.store';
export type { ExportedDevice, ListedKnownDevice } from './features/known-devices/known-device.store';
export type { PasskeyList } from './features/passkeys/passkey.entity';
export { type CallSource, type Flow, ServerRequest } from './request/http/server-call';
export { AuthEvents } from './foundation/platform/auth-events';
export {
  AuthHealth,
  type HealthFault,
  type HealthResult,
  type HealthStep,
  type HealthWarning,
} from './tools/health/auth-health';
export { Clock } from './foundation/platform/clock';
export { type Enrolment, TwoFactor } from './features/two-factor/two-factor';
export type { ImportedFactor } from './features/two-factor/imported-factor';
export { Pruning, PruningFailed } from './tools/retention/pruning';
export type { Pruned } from './foundation/realm/feature-data';
export { SharedThrottlerStorage, type ThrottlerRecord } from './request/throttling/throttler-storage';

// Decorators and guards
export { Authenticated, CurrentCaller, CurrentUser, Public } from './request/gates/authenticated';
export { Abilities, AnyAbility } from './request/abilities/abilities';
export { AbilitiesGuard, AnyAbilityGuard } from './request/abilities/abilities';
export { type DeclaredAbilities, defineAbilities } from './request/abilities/abilities';
export { tokenAbilities, tokenCan, tokenCannot } from './request/abilities/abilities';
export { RequireAbilityIfPinned } from './features/sessions/pinned-ability.gate';
export type { TokenSource } from './identity/tokens/caller';
export { UserResource } from './request/abilities/user-resource';
export { ConfirmationGuard, RequireConfirmation } from './features/step-up/require-confirmation';
export { RecentLoginGuard, RequireRecentLogin } from './features/step-up/require-recent-login';
export { FactorGuard, RequireFactor } from './features/step-up/require-factor';
export type { RequiredFactor } from './features/step-up/step-up.policy';
export { RequireVerifiedEmail, VerifiedEmailGuard } from './features/email-verification/require-verified-email';
export { Throttled } from './request/throttling/limiters';
export { AccessTokenGuard } from './request/gates/authenticated';
export { type ApiDocument, describeAuth } from './tools/openapi/describe-auth';
export { ForceJson } from './request/http/error.filter';
export { ValidationPipe, type ValidationPipeOptions } from './request/http/validation-pipe';
export type { Caller } from './identity/tokens/caller';
export type { AccessClaims } from './identity/tokens/access-token.policy';
export type { Grant } from './identity/users/grant';
export type { ListedSession } from './features/sessions/session-list';
export type { ListedDevice } from './features/login-challenge/trusted-device.store';
export type { LoginAnswer } from './features/login/login';
export type {
  EnrolmentChallenge,
  EnrolmentMethod,
  LoginChallenge,
  SecondFactorMethod,
} from './foundation/ports/presenter';
export type { SignInDevice } from './features/sessions/sign-ins';
export type { DeviceToken, SessionTokens } from './request/http/route.interceptor';
export type { ClientInfo } from './request/http/client-info';
export type { CarriedRequest, Handshake } from './foundation/ports/handshake';

// Options
export { authOptionsFromEnv } from './foundation/config/env';
export type * from './foundation/config/auth-options';
export type { PostgresPool } from './foundation/platform/postgres-pool';
export type { PublicGuardConfig } from './foundation/config/public-config';
export type { MessageKey, MessageParams, Translate, Translator } from './foundation/platform/messages';
export { LANGUAGES, type Language } from './foundation/platform/language';
export type { SecurityEvent, SecurityLine } from './foundation/platform/catalogue';
export type { Operation } from './foundation/platform/catalogue';
export type { Reason } from './foundation/platform/catalogue';

// Entities and migrations
export { authEntities, authMigrations } from './entities';
export { migrateAuth } from './tools/migrations/migrate';
export { addTwoFactorColumns } from './tools/migrations/two-factor-columns';
export { withAuthColumns } from './identity/users/columns';
export { withTwoFactorColumns } from './identity/users/columns';
export { EmailDelivery } from './features/email-verification/email-delivery.entity';
export { EmailChange } from './features/email-change/email-change.entity';
export type { EmailChangeState } from './features/email-change/email-change.policy';
export { KnownDevice } from './features/known-devices/known-device.entity';
export { LockoutCounter } from './request/lockout/lockout.entity';
export { Passkey } from './features/passkeys/passkey.entity';
export { PasswordResetToken } from './features/password-reset/reset-token.entity';
export { TrustedDevice } from './features/login-challenge/trusted-device.entity';
export { Session } from './identity/denylist/session.entity';

// Events
export { AccountDeleted } from './features/account/account.events';
export { AccountDeleting } from './features/account/account.events';
export { EmailChangeRequested, EmailChangeUndone, EmailChanged } from './features/email-change/email-change.events';
export { SignInReported } from './features/known-devices/sign-in-report';
export { MailFailed } from './features/mail/mail-queue';
export { Registered } from './features/registration/registration';
export { Verified } from './features/email-verification/verified-emails';
export { UsernameChanged } from './features/username-change/username-change';
export { PasswordReset } from './features/password-reset/password-reset';
export { PasswordChanged } from './features/change-password/change-password';
export { AccountLocked } from './request/lockout/lockout';
export { AccountReleased } from './request/lockout/lockout';
export type { LockPurpose } from './request/lockout/lockout.store';
export { Lockout } from './features/login/login';
export { RecoveryCodeUsed } from './features/two-factor/two-factor.events';
export { RecoveryCodesReplaced } from './features/two-factor/two-factor.events';
export { TwoFactorDisabled } from './features/two-factor/two-factor.events';
export { TwoFactorEnabled, TwoFactorUnusable } from './features/two-factor/two-factor.events';
export { DeviceTrusted } from './features/login-challenge/trusted-devices';
export { PasskeyAdded } from './features/passkeys/passkeys.events';
export { PasskeyBackupChanged } from './features/passkeys/passkeys.events';
export { PasskeyCloneDetected } from './features/passkeys/passkeys.events';
export { PasskeyRemoved } from './features/passkeys/passkeys.events';
export { TokenAbilityDenied } from './request/abilities/ability.gate';
export {
  RefreshFamilyForked,
  RefreshTokenReused,
  type SessionEndReason,
  SessionEnded,
  SessionRecovered,
  SessionStarted,
} from './features/sessions/sessions.events';

// Exceptions
export { InvalidLink, OutdatedLink } from './features/email-verification/email-verification';
export { EmailChangeFailed } from './features/email-change/email-change';
export { FormerEmailTaken } from './features/email-change/email-change-undo';
export { IdentifierTaken } from './features/registration/registration-form';
export { ReportFailed } from './features/known-devices/sign-in-report';
export { ResetFailed } from './features/password-reset/password-reset';
export {
  AuthConfigError,
  AuthException,
  StoreUnavailable,
  Unauthenticated,
  ValidationFailed,
} from './foundation/platform/errors';

export { AlreadyEnrolled, NotEnrolled } from './features/two-factor/two-factor.errors';
export { BadEnrolment } from './features/login-challenge/login-enrolments';
export { SecondFactorRequired } from './features/login-challenge/required-factors';
export { BadChallenge } from './features/login-challenge/challenge';
export { HasherBusy } from './identity/password/hash-queue';
export {
  ConfirmationOfAnotherSession,
  ConfirmationRequired,
  RecentLoginRequired,
  FactorRequired,
  PasskeyConfirmationRequired,
} from './features/step-up/step-up.errors';
export { DeletionBusy } from './features/account/account-deletion';
export { EmailUnverified } from './features/email-verification/require-verified-email';
export { InsufficientScope } from './request/abilities/ability.gate';
export { LastPasskey } from './features/passkeys/passkeys.errors';
export { PasskeyNotFound } from './features/passkeys/passkeys.errors';
export { PasskeyRefused } from './features/passkeys/passkeys.errors';
export { InvalidRefreshToken, NoSession, SessionNotFound } from './features/sessions/sessions.errors';
export { SignInRefused, UnusableClaim } from './identity/tokens/access-tokens';
export { WrongCode } from './features/login-challenge/challenge';
export { WrongEmailCode } from './features/email-code/email-code-login';
export { WrongPassword } from './features/step-up/step-up.errors';
export { AccountIsLocked } from './request/lockout/lockout';
export { TooManyFailures } from './request/throttling/throttling.errors';
export { TooManyRequests } from './request/throttling/throttling.errors';
export { UnverifiedLogin } from './features/login/login';
export { WrongCredentials } from './features/login/credentials';

// Ports
export { type Mail, Mailer } from './foundation/ports/mail';
export { nodemailerMailer } from './features/mail/nodemailer-mailer';
export type {
  EmailChangedMail,
  LinkMail,
  MailContent,
  MailData,
  MailKind,
  MailTemplate,
  MailTemplates,
  MailText,
  MailTextReplacements,
  MailTexts,
  NewSignInMail,
  NoticeKind,
  NoticeMail,
  SharedMailTexts,
  SignInCodeMail,
} from './foundation/ports/mail';
export type { MailPreview } from './features/mail/mail-preview';
export { type PresentedRequest, Presenter, type RegisteredBody, type TokenBody } from './foundation/ports/presenter';
export { BreachedPasswords } from './foundation/ports/passwords';
export { PwnedPasswords } from './identity/password/pwned-passwords';
export { PasswordVerifier } from './foundation/ports/passwords';
export { bcryptVerifier } from './identity/password/imported/bcrypt-verifier';
export { firebaseScryptVerifier } from './identity/password/imported/firebase-scrypt-verifier';
export { pbkdf2Verifier } from './identity/password/imported/pbkdf2-verifier';
export { scryptVerifier } from './identity/password/imported/scrypt-verifier';
export type { RegistrationField, RegistrationRules } from './foundation/config/registration-rules';
export { PasswordHasher } from './identity/password/password-hasher';
export {
  type Bucket,
  type InstanceRead,
  type Limit,
  type AttemptOutcome,
  SecurityStore,
  type Tally,
} from './foundation/security-store/security-store';

export type {
  EmailReplacement,
  ReplacementResult,
  Replacing,
  StoredSecondFactor,
} from './foundation/ports/user-provider';
export { type NewAccount, type StoredCredentials, UserProvider } from './foundation/ports/user-provider';
