import type { Operation, Outcome } from './operations';
import type { Reason } from './reasons';

/** What happened besides the outcomes of requests, and where it is told. */
export const HAPPENINGS = {
  'auth.account.deleted': 'AccountDeleted',
  'auth.account.locked': 'AccountLocked',
  'auth.account.released': 'AccountReleased',
  'auth.email.verified': 'Verified',
  'auth.mail.failed': 'MailFailed',
  'auth.passkey.added': 'PasskeyAdded',
  'auth.passkey.backup_changed': 'PasskeyBackupChanged',
  'auth.passkey.cloned': 'PasskeyCloneDetected',
  'auth.passkey.removed': 'PasskeyRemoved',
  'auth.recovery_code.used': 'RecoveryCodeUsed',
  'auth.recovery_codes.replaced': 'RecoveryCodesReplaced',
  'auth.refresh_token.reused': 'RefreshTokenReused',
  'auth.session.ended': 'SessionEnded',
  'auth.session.forked': 'RefreshFamilyForked',
  'auth.session.recovered': 'SessionRecovered',
  'auth.session.started': 'SessionStarted',
  'auth.two_factor.disabled': 'TwoFactorDisabled',
  'auth.two_factor.enabled': 'TwoFactorEnabled',
} as const;

export type SecurityEvent = `auth.${Operation}.${Outcome}` | 'auth.guard.refused' | keyof typeof HAPPENINGS;

/**
 * One line of the security log. It holds no secret, no identifier and no text of a client; every value is one
 * line of at most 128 characters.
 *
 * @publicApi
 */
export interface SecurityLine {
  readonly event: SecurityEvent;
  /** Why it was refused or failed. */
  readonly reason?: Reason;
  readonly guard?: string;
  /** Which of the library's routes a gate stood before; absent for a route of the host's. */
  readonly operation?: Operation;
  /** The account, where it is known, also of a failed login. */
  readonly user_id?: string;
  /** The session: `fid`, which opens nothing. */
  readonly session_id?: string;
  /** The address of the client, as the application sees it. */
  readonly ip?: string;
  /** What a lock was about, which mail failed, or why a session ended. */
  readonly purpose?: string;
  /** Lines of the same event, reason and guard that were left out since the last one. */
  readonly suppressed?: number;
}
