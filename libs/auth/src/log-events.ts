import type { Type } from '@nestjs/common';
import { AccountDeleted } from './features/account/account.events';
import { Verified } from './features/email-verification/verified-emails';
import type { AuthEvents } from './foundation/platform/auth-events';
import { AccountLocked, AccountReleased } from './request/lockout/lockout';
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
  SessionStarted,
} from './features/sessions/sessions.events';
import {
  RecoveryCodeUsed,
  RecoveryCodesReplaced,
  TwoFactorDisabled,
  TwoFactorEnabled,
} from './features/two-factor/two-factor.events';
import { UserProvider } from './foundation/ports/user-provider';

type Told = Omit<SecurityLine, 'event'>;

/** The account a lock is on; a lock may be on an identifier, which is nobody's business. */
const locked = ({ purpose, subject, guard }: AccountLocked): Told => ({
  purpose,
  guard,
  user_id: purpose === 'login' ? /^id:(.*)$/s.exec(subject)?.[1] : subject,
});

const ofUser = ({ userId, guard }: { userId: string; guard: string }): Told => ({ user_id: userId, guard });

const ofSession = ({ guard, userId, sessionId }: SessionRecovered | SessionStarted): Told => ({
  guard,
  user_id: userId,
  session_id: sessionId,
});

/**
 * Writes the events that are no outcome of one request to the security log, and counts those that are counted.
 * What requests end with is told where they end: see `RequestObserver`.
 */
export function observeEvents(events: AuthEvents, log: SecurityLog, realms: Realms): void {
  const tell = <E extends object>(
    event: Type<E>,
    severity: Severity,
    name: keyof typeof SECURITY_EVENTS,
    told: (event: E) => Told,
  ): void => void events.on(event, (one) => log.write(severity, { event: name, ...told(one) }));

  tell(RefreshTokenReused, 'warning', 'auth.refresh_token.reused', ({ familyId }) => ({ session_id: familyId }));
  tell(RefreshFamilyForked, 'warning', 'auth.session.forked', ({ userId, familyId }) => ({
    user_id: userId,
    session_id: familyId,
  }));
  tell(SessionStarted, 'info', 'auth.session.started', ofSession);
  tell(SessionEnded, 'info', 'auth.session.ended', (event) => ({ ...ofSession(event), purpose: event.reason }));
  tell(SessionRecovered, 'warning', 'auth.session.recovered', ofSession);
  tell(AccountLocked, 'warning', 'auth.account.locked', locked);
  tell(AccountReleased, 'info', 'auth.account.released', locked);
  tell(PasskeyCloneDetected, 'warning', 'auth.passkey.cloned', ofUser);
  tell(PasskeyAdded, 'info', 'auth.passkey.added', ofUser);
  tell(PasskeyRemoved, 'info', 'auth.passkey.removed', ofUser);
  tell(PasskeyBackupChanged, 'info', 'auth.passkey.backup_changed', ofUser);
  tell(TwoFactorEnabled, 'info', 'auth.two_factor.enabled', ofUser);
  tell(TwoFactorDisabled, 'info', 'auth.two_factor.disabled', ofUser);
  tell(RecoveryCodeUsed, 'info', 'auth.recovery_code.used', ofUser);
  tell(RecoveryCodesReplaced, 'info', 'auth.recovery_codes.replaced', ofUser);
  tell(AccountDeleted, 'info', 'auth.account.deleted', ofUser);
  tell(MailFailed, 'warning', 'auth.mail.failed', ({ kind, guard }) => ({ purpose: kind, guard }));
  // Mounted at the default guard alone.
  tell(Verified, 'info', 'auth.email.verified', ({ user }) => ({
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
