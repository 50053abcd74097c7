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
export { Auth } from './auth';
export { ChallengeFlow } from './features/login-challenge/challenge.controller';
export { type LoginInput, LoginFlow } from './features/login/login.controller';
export { SessionFlow } from './features/sessions/sessions.controller';
export { KnownDeviceFlow } from './features/known-devices/known-devices.controller';
export { ConfirmationFlow } from './features/step-up/confirm-password.controller';
export { TrustedDeviceFlow } from './features/login-challenge/trusted-devices.controller';
export { RequiredEnrolmentFlow } from './features/two-factor/required-two-factor';
export { EnrolmentFlow } from './features/two-factor/two-factor.controller';
export { PasskeyFlow } from './features/passkeys/passkey-flow';
export { RegistrationFlow } from './features/registration/registration.controller';
export type { RegistrationAnswer, RegistrationReceived } from './features/login/account-opening';
export { PasswordChangeFlow } from './features/change-password/change-password.controller';
export { PasswordResetFlow } from './features/password-reset/password-reset.controller';
export { EmailCodeFlow } from './features/email-code/email-code.controller';
export type { RequestedCode } from './features/email-code/email-code-requests';
export { EmailVerificationFlow } from './features/email-verification/email-verification.controller';
export { EmailChangeFlow } from './features/email-change/email-change.controller';
export { UsernameChangeFlow } from './features/username-change/username-change.controller';
export { AccountFlow } from './features/account/account.controller';
export type { ExportedAccount } from './features/account/account-data';
export type { ListedKnownDevice } from './features/known-devices/known-device.store';
export type { PasskeyList } from './features/passkeys/passkey.entity';
export { type CallSource, type Flow, ServerRequest } from './request/http/server-call';
export { AuthEvents } from './foundation/platform/auth-events';
export { AuthHealth, type HealthResult } from './tools/health/auth-health';
export { Clock } from './foundation/platform/clock';
export { type Enrolment, TwoFactor } from './features/two-factor/two-factor';
export type { ImportedFactor } from './features/two-factor/imported-factor';
export { Pruning, PruningFailed } from './tools/retention/pruning';
export type { Pruned } from './foundation/realm/feature-data';
export { SharedThrottlerStorage } from './request/throttling/throttler-storage';

// Decorators and guards
export { Authenticated, CurrentCaller, CurrentUser, Public } from './request/gates/authenticated';
export { Abilities, AnyAbility } from './request/abilities/abilities';
export { AbilitiesGuard, AnyAbilityGuard } from './request/abilities/abilities';
export { type DeclaredAbilities, defineAbilities } from './request/abilities/abilities';
export { tokenAbilities, tokenCan, tokenCannot } from './request/abilities/abilities';
export { RequireAbilityIfPinned } from './features/sessions/pinned-ability.gate';
export { AcceptsTicket } from './features/tickets/accepts-ticket';
export type { Tickets } from './features/tickets/tickets';
export { UserResource } from './request/abilities/user-resource';
export { ConfirmationGuard, RequireConfirmation } from './features/step-up/require-confirmation';
export { RecentLoginGuard, RequireRecentLogin } from './features/step-up/require-recent-login';
export { FactorGuard, RequireFactor } from './features/step-up/require-factor';
export { RequireVerifiedEmail, VerifiedEmailGuard } from './features/email-verification/require-verified-email';
export { Throttled } from './request/throttling/limiters';
export { AccessTokenGuard } from './request/gates/authenticated';
export { ForceJson } from './request/http/error.filter';
export { ValidationPipe } from './request/http/validation-pipe';
export type { Caller, TokenSource } from './identity/tokens/caller';
export type { Grant } from './identity/users/grant';
export type { ListedSession } from './features/sessions/session-list';
export type { ListedDevice } from './features/login-challenge/trusted-device.store';
export type { LoginAnswer } from './features/login/login';
export type { EnrolmentChallenge, LoginChallenge } from './foundation/ports/presenter';
export type { SessionTokens } from './request/http/route-answer';

// Options
export { authOptionsFromEnv } from './library-options';
export type {
  AuthAsyncValues,
  AuthHooks,
  AuthModuleAsyncOptions,
  AuthModuleOptions,
  FeatureOptions,
  HookContext,
} from './foundation/config/auth-options';
export type { LimitRule, Limiter } from './foundation/ports/limiter';
export type { PublicGuardConfig } from './foundation/config/public-config';
export type { SecurityLine } from './foundation/platform/catalogue';
export type { Operation } from './foundation/platform/catalogue';
export type { Reason } from './foundation/platform/catalogue';

// Entities and migrations
export { authEntities, authMigrations } from './library-options';
export { migrateAuth } from './tools/migrations/migrate';
export { addTwoFactorColumns } from './features/two-factor/two-factor-columns';
export { withAuthColumns } from './identity/users/columns';
export { withTwoFactorColumns } from './features/two-factor/two-factor-columns';
export { EmailDelivery } from './identity/users/email-delivery.entity';
export { EmailChange } from './features/email-change/email-change.entity';
export { KnownDevice } from './features/known-devices/known-device.entity';
export { LockoutCounter } from './request/lockout/lockout.entity';
export { Passkey } from './features/passkeys/passkey.entity';
export { PasswordResetToken } from './features/password-reset/reset-token.entity';
export { TrustedDevice } from './features/login-challenge/trusted-device.entity';
export { Session } from './features/sessions/session.entity';

// Events
export { AccountDeleted } from './features/account/account.events';
export { AccountDeleting } from './features/account/account.events';
export { EmailChangeRequested, EmailChangeUndone, EmailChanged } from './features/email-change/email-change.events';
export { SignInReported } from './features/known-devices/sign-in-report';
export { MailFailed } from './features/mail/mail-queue';
export { Registered } from './features/registration/registration';
export { Verified } from './identity/users/proved-emails';
export { UsernameChanged } from './features/username-change/username-change';
export { PasswordReset } from './features/login/password-replacement';
export { PasswordChanged } from './features/change-password/change-password';
export { AccountLocked } from './request/lockout/lockout';
export { AccountReleased } from './request/lockout/lockout';
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
  SessionEnded,
  SessionRecovered,
  SessionStarted,
} from './features/sessions/sessions.events';

// Exceptions
export {
  AuthConfigError,
  AuthException,
  StoreUnavailable,
  Unauthenticated,
  ValidationFailed,
} from './foundation/platform/errors';

// Ports
export { type Mail, Mailer } from './foundation/ports/mail';
export { nodemailerMailer } from './features/mail/nodemailer-mailer';
export type { MailContent, MailKind, MailTemplates } from './foundation/ports/mail';
export type { MailPreview } from './features/mail/account-mails';
export { type PresentedRequest, Presenter, type RegisteredBody, type TokenBody } from './foundation/ports/presenter';
export { BreachedPasswords } from './foundation/ports/passwords';
export type { PasswordRules } from './identity/password/password-rules';
export { PwnedPasswords } from './identity/password/pwned-passwords';
export { type PasswordPreparation, PasswordVerifier } from './foundation/ports/passwords';
export {
  bcryptVerifier,
  firebaseScryptVerifier,
  pbkdf2Verifier,
  phpassVerifier,
  scryptVerifier,
} from './identity/password/imported/verifiers';
export type { RegistrationRules } from './features/registration/registration-rules';
export { PasswordHasher } from './identity/password/password-hasher';
export { type Limit, type AttemptOutcome, SecurityStore, type Tally } from './foundation/security-store/security-store';

export type { EmailReplacement, ReplacementResult, StoredSecondFactor } from './foundation/ports/user-provider';
export { type NewAccount, type StoredCredentials, UserProvider } from './foundation/ports/user-provider';

// With what features add to the types
export type {} from './features';
