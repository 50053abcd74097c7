import type { Type } from '@nestjs/common';
import { AccountDeleted } from './features/account/account.events';
import { EmailChangeUndone, EmailChanged } from './features/email-change/email-change.events';
import { Verified } from './features/email-verification/verified-emails';
import { DeviceTrusted } from './features/login-challenge/trusted-devices';
import type { AuthEvents } from './foundation/platform/auth-events';
import { AccountLocked, AccountReleased } from './request/lockout/lockout';
import { lockedUserId } from './request/lockout/lockout.store';
import { SignInReported } from './features/known-devices/sign-in-report';
import { MailFailed } from './features/mail/mail-queue';
import type { SECURITY_EVENTS, SecurityLine } from './foundation/platform/catalogue';
import type { SecurityLog, Severity } from './foundation/observability/security-log';
import { telemetry } from './foundation/observability/telemetry';
import {
  PasskeyAdded,
  PasskeyBackupChanged,
  PasskeyCloneDetected,
  PasskeyRemoved,
} from './features/passkeys/passkeys.events';
import type { Realms } from './foundation/realm/realm';
import {
  RefreshFamilyForked,
  RefreshTokenReused,
  SessionEnded,
  SessionRecovered,
} from './features/sessions/sessions.events';
import { SessionStarted } from './features/sessions/sign-in';
import {
  RecoveryCodeUsed,
  RecoveryCodesReplaced,
  TwoFactorDisabled,
  TwoFactorEnabled,
  TwoFactorUnusable,
} from './features/two-factor/two-factor.events';
import { UserProvider } from './foundation/ports/user-provider';

type LineDetails = Omit<SecurityLine, 'event'>;

/** Names the locked account by its user id. An identifier without an account is personal data and is not logged. */
const locked = ({ purpose, subject, guard }: AccountLocked): LineDetails => ({
  purpose,
  guard,
  user_id: lockedUserId({ purpose, subject }) ?? undefined,
});

const ofUser = ({ userId, guard }: { userId: string; guard: string }): LineDetails => ({ user_id: userId, guard });

type OfSession = SessionRecovered | SessionStarted | RefreshFamilyForked | SignInReported;

const ofSession = ({ guard, userId, familyId }: OfSession): LineDetails => ({
  guard,
  user_id: userId,
  session_id: familyId,
});

/**
 * Writes events to the security log and counts them in metrics. `RequestObserver` logs the outcome of requests; this
 * function logs the events that are not the outcome of one request.
 */
export function observeEvents(events: AuthEvents, log: SecurityLog, realms: Realms): void {
  const logEvent = <E extends object>(
    event: Type<E>,
    severity: Severity,
    name: keyof typeof SECURITY_EVENTS,
    detailsOf: (event: E) => LineDetails,
  ): void => void events.on(event, (emitted) => log.write(severity, { event: name, ...detailsOf(emitted) }));

  logEvent(RefreshTokenReused, 'warning', 'auth.refresh_token.reused', ({ guard, familyId }) => ({
    guard,
    session_id: familyId,
  }));
  logEvent(RefreshFamilyForked, 'warning', 'auth.session.forked', ofSession);
  logEvent(SessionStarted, 'info', 'auth.session.started', (event) => ({
    ...ofSession(event),
    ...(event.device && { purpose: event.device }),
  }));
  logEvent(SessionEnded, 'info', 'auth.session.ended', (event) => ({ ...ofSession(event), purpose: event.reason }));
  logEvent(SessionRecovered, 'warning', 'auth.session.recovered', ofSession);
  logEvent(SignInReported, 'warning', 'auth.sign_in.reported', ofSession);
  logEvent(AccountLocked, 'warning', 'auth.account.locked', locked);
  // Each success with a password clears its own counted attempt: usually nothing was locked.
  logEvent(AccountReleased, 'info', 'auth.account.failures_cleared', locked);
  logEvent(PasskeyCloneDetected, 'warning', 'auth.passkey.cloned', ofUser);
  logEvent(DeviceTrusted, 'info', 'auth.device.trusted', ofUser);
  logEvent(PasskeyAdded, 'info', 'auth.passkey.added', ofUser);
  logEvent(PasskeyRemoved, 'info', 'auth.passkey.removed', ofUser);
  logEvent(PasskeyBackupChanged, 'info', 'auth.passkey.backup_changed', ofUser);
  logEvent(TwoFactorEnabled, 'info', 'auth.two_factor.enabled', ofUser);
  logEvent(TwoFactorDisabled, 'info', 'auth.two_factor.disabled', ofUser);
  logEvent(TwoFactorUnusable, 'warning', 'auth.two_factor.unusable', ofUser);
  logEvent(RecoveryCodeUsed, 'info', 'auth.recovery_code.used', ofUser);
  logEvent(RecoveryCodesReplaced, 'info', 'auth.recovery_codes.replaced', ofUser);
  logEvent(AccountDeleted, 'info', 'auth.account.deleted', ofUser);
  logEvent(MailFailed, 'warning', 'auth.mail.failed', ({ kind, guard }) => ({ purpose: kind, guard }));
  logEvent(EmailChanged, 'info', 'auth.email.changed', ofUser);
  logEvent(EmailChangeUndone, 'warning', 'auth.email.change_undone', ofUser);
  // Only the default guard verifies email addresses.
  logEvent(Verified, 'info', 'auth.email.verified', ({ user }) => ({
    user_id: realms.default.get(UserProvider).idOf(user),
    guard: realms.default.realm.guard,
  }));

  events.on(RefreshTokenReused, () => telemetry.count('svc.auth.refresh_token.reuses'));
  events.on(SessionStarted, ({ guard }) => telemetry.count('svc.auth.sessions.started', { 'svc.auth.guard': guard }));
  events.on(SessionEnded, ({ guard, reason }) =>
    telemetry.count('svc.auth.sessions.ended', { 'svc.auth.guard': guard, 'svc.auth.purpose': reason }),
  );
  events.on(SessionRecovered, ({ guard }) =>
    telemetry.count('svc.auth.sessions.recovered', { 'svc.auth.guard': guard }),
  );
  events.on(AccountLocked, ({ purpose, guard }) =>
    telemetry.count('svc.auth.account.locks', { 'svc.auth.guard': guard, 'svc.auth.purpose': purpose }),
  );
  events.on(MailFailed, ({ kind, guard }) =>
    telemetry.count('svc.auth.mail.failures', { 'svc.auth.guard': guard, 'svc.auth.purpose': kind }),
  );
}
