/** What each of the library's routes does, by method and path below the guard's. */
export const OPERATIONS = {
  'DELETE account': 'account_delete',
  'DELETE passkeys/:svcPasskey': 'passkey_delete',
  'DELETE sessions': 'sessions_end_all',
  'DELETE sessions/:svcSession': 'session_end',
  'DELETE sessions/others': 'sessions_end_others',
  'DELETE two-factor': 'two_factor_disable',
  'GET account/export': 'account_export',
  'GET email/verify/:id/:hash': 'email_verify',
  'HEAD email/verify/:id/:hash': 'email_verify_probe',
  'GET jwks': 'jwks',
  'GET passkeys': 'passkeys_list',
  'GET sessions': 'sessions_list',
  'GET two-factor/recovery-codes': 'recovery_codes_count',
  'PATCH passkeys/:svcPasskey': 'passkey_rename',
  'POST confirm-passkey': 'confirm_passkey',
  'POST confirm-password': 'confirm_password',
  'POST email/verification-notification': 'email_verification_send',
  'POST forgot-password': 'password_forgot',
  'POST login': 'login',
  'POST logout': 'logout',
  'POST passkeys': 'passkey_register',
  'POST passkeys/login': 'passkey_login',
  'POST passkeys/login-options': 'passkey_login_options',
  'POST passkeys/registration-options': 'passkey_register_options',
  'POST password': 'password_change',
  'POST refresh': 'refresh',
  'POST register': 'register',
  'POST reset-password': 'password_reset',
  'POST two-factor': 'two_factor_enrol',
  'POST two-factor-challenge': 'challenge',
  'POST two-factor/confirm': 'two_factor_confirm',
  'POST two-factor/recovery-codes': 'recovery_codes_renew',
} as const;

export type Operation = (typeof OPERATIONS)[keyof typeof OPERATIONS];

/** `challenged`: a second factor is due. */
export type Outcome = 'succeeded' | 'challenged' | 'failed';

/** Whose success is no line of the log: too many, of no consequence, or told by an event of their own. */
export const QUIET: ReadonlySet<Operation> = new Set([
  'account_delete',
  'email_verify',
  'email_verify_probe',
  'jwks',
  'passkey_login_options',
  'passkey_register_options',
  'passkeys_list',
  'recovery_codes_count',
  'refresh',
  'sessions_list',
  'two_factor_confirm',
  'two_factor_disable',
]);

/** The operation of a route, or undefined where it is none of ours. */
export const operationAt = (route: string): Operation | undefined => OPERATIONS[route as keyof typeof OPERATIONS];

/**
 * Why something was refused or failed, for the log and the metrics alone: no client is told. A closed list, so
 * that it can be alerted on; each with its meaning.
 */
export const REASONS = {
  account_locked: 'a lock of `features.lockout` holds',
  already_enrolled: 'a second factor is enabled already',
  bad_challenge: 'the login challenge is none of ours, too old or used up',
  bad_link: 'the signature of a mailed link does not fit, or its time is over',
  confirmation_required: 'a step-up proof is missing or no good',
  confirmation_session_mismatch: 'the step-up proof is of another session',
  email_unverified: '`@RequireVerifiedEmail()` stands before the route',
  expired_token: 'the token was good once: clients refresh upon it',
  hasher_busy: 'too many passwords wait to be checked (503)',
  identifier_taken: 'there is an account with the identifier',
  insufficient_scope: 'the token lacks an ability',
  invalid_token: 'no key of this guard signed the token, or it was made for something else',
  missing_token: 'no token was sent',
  no_such_passkey: 'the caller has no such passkey',
  no_such_session: 'the caller has no such session',
  not_enrolled: 'no second factor is enabled',
  other: 'an error of the host`s own',
  outdated_link: 'the mailed link is signed, but not for the address the account has now',
  passkey_not_registered: 'a new passkey did not verify',
  passkey_not_verified: 'a passkey did not verify',
  passkey_not_yours: 'the passkey is somebody else`s',
  reset_failed: 'the reset link is none, too old, used or of another address',
  reused_token: 'a replaced refresh token came back after the grace window: somebody has a copy',
  revoked_token: 'the session or the token was ended before',
  store_unavailable: 'Redis, PostgreSQL or the user store did not answer in time (503)',
  too_many_failures: 'the limit on failed attempts of the account is exhausted (429)',
  too_many_requests: 'a rate limit of the route is exhausted (429)',
  unexpected: 'a fault: the log has its stack (500)',
  unknown_token: 'there is no such refresh token',
  unknown_user: 'no account has the identifier, or it is gone',
  unverified_login: 'the credentials are right, and the email is not verified',
  validation_failed: 'a field of the request breaks a rule (422)',
  wrong_code: 'the second factor is wrong',
  wrong_credentials: '`hooks.authenticate` knows nobody with these credentials',
  wrong_password: 'the account is there, and the password is wrong',
} as const;

/** One of the reasons that the security log and the metrics know. */
export type Reason = keyof typeof REASONS;

export const isReason = (code: string): code is Reason => Object.hasOwn(REASONS, code);

/** What happened besides the outcomes of requests, and where it is told. */
export const SECURITY_EVENTS = {
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

export type SecurityEvent = `auth.${Operation}.${Outcome}` | 'auth.guard.refused' | keyof typeof SECURITY_EVENTS;

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
