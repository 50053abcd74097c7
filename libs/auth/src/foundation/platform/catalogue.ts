/**
 * The operations of the library. Each controller adds those of its routes by merging into this interface, so that the
 * operations in the security log are a closed list.
 */
export interface Operations {}

/** The operation of a route of the library: its name in the security log, in the metrics and in OpenAPI. */
export type Operation = keyof Operations;

/** The outcome of an operation. `challenged`: the login continues with a second factor, or with its enrolment. */
export type Outcome = 'succeeded' | 'challenged' | 'failed';

/**
 * The reasons of refusals and failures, each with its meaning. They appear in the log and in the metrics, never in a
 * response. The list is closed, so that operators can define alerts for each reason.
 */
export const REASONS = {
  account_locked: '`features.lockout` has locked the account',
  already_enrolled: 'a second factor is already enabled',
  bad_challenge: 'the login challenge is not valid, has expired or was used before',
  bad_enrolment: 'the enrolment token is not valid, has expired or was used before, or the user has a second factor',
  bad_link: 'the signature of a mailed link is not valid, or the link has expired',
  confirmation_required: 'a step-up proof is missing or not valid',
  confirmation_session_mismatch: 'the step-up proof belongs to another session',
  deletion_busy: 'other deletions, of this account or of too many others, are running (503)',
  email_change_failed:
    'the link of a change of email is not valid, has expired or was replaced, or the new address is taken',
  email_unverified: 'the route has `@RequireVerifiedEmail()`, and the email is not verified',
  expired_token: 'the access token has expired: the client refreshes it',
  former_email_taken: 'a change of email cannot be undone: another account has the former address',
  factor_required: 'the route has `@RequireFactor()`, and the session was not started with this factor',
  hasher_busy: 'too many password hashes wait, or one waited too long (503)',
  idle_session: 'the session was not refreshed for its idle time (`sessions.idleTimeout`)',
  identifier_taken: 'an account with the identifier exists',
  insufficient_scope: 'the token lacks an ability',
  invalid_token: 'no key of this guard signed the token, or the token has another purpose',
  last_passkey: 'the passkey is the only way in which its user can sign in',
  missing_token: 'no token was sent',
  no_session: 'the token names no session and cannot be denied, so there was nothing to end',
  no_such_passkey: 'the caller has no such passkey',
  no_such_session: 'the caller has no such session',
  not_enrolled: 'no second factor is enabled',
  other: 'an exception of the host',
  outdated_link: 'the signature of the mailed link is valid, but the account has another address now',
  passkey_not_registered: 'the verification of a new passkey failed',
  passkey_not_verified: 'the verification of a passkey failed',
  passkey_not_yours: 'the passkey belongs to another account',
  recent_login_required: 'the route has `@RequireRecentLogin()`, and the user did not sign in recently enough',
  report_failed: 'the link in a mail about a sign-in is not valid, or has expired',
  reset_failed: 'the reset link is not valid, has expired, was used before or is for another address',
  reused_token: 'a replaced refresh token was used after the grace period: a copy of it exists',
  revoked_token: 'the session or the token was revoked',
  second_factor_required: 'the last second factor of a user who must have one',
  sign_in_refused: '`hooks.canSignIn` refused the user',
  store_unavailable: 'Redis, PostgreSQL, the user store or code of the host did not answer in time (503)',
  too_many_failures: 'the limit on failed attempts of the account is exhausted (429)',
  too_many_requests: 'a rate limit of the route is exhausted (429)',
  unexpected: 'an unexpected error: the log contains its stack (500)',
  unknown_token: 'the refresh token does not exist',
  unknown_user: 'no account has the identifier, or the account was deleted',
  unverified_login: 'the credentials are correct, but the email is not verified',
  validation_failed: 'a field of the request breaks a rule (422)',
  wrong_code: 'the second factor is wrong',
  wrong_credentials: '`hooks.authenticate` found no user with these credentials',
  wrong_email_code: 'the mailed code is wrong, has expired, was used before, or belongs to another browser',
  wrong_password: 'the account exists, but the password is wrong',
} as const;

/** A reason in the security log and in the metrics. */
export type Reason = keyof typeof REASONS;

export const isReason = (code: string): code is Reason => Object.hasOwn(REASONS, code);

/**
 * The lines of the security log that are not outcomes of requests, each with the event that causes it. Features add theirs by
 * merging into this interface.
 */
export interface SecurityEvents {}

export type SecurityEvent = `auth.${Operation}.${Outcome}` | 'auth.guard.refused' | keyof SecurityEvents;

/**
 * One line of the security log. It contains no secret, no login identifier and no text from a client. Every value is
 * one line of at most 128 characters.
 *
 * @publicApi
 */
export interface SecurityLine {
  readonly event: SecurityEvent;
  /** The reason of a refusal or failure. */
  readonly reason?: Reason;
  /** The name of the guard. */
  readonly guard?: string;
  /** The route of the library that a gate refused; absent for routes of the host. */
  readonly operation?: Operation;
  /** The id of the account, where it is known; also present for a failed login. */
  readonly user_id?: string;
  /** The id of the session (`fid`). It grants no access. */
  readonly session_id?: string;
  /** The address of the client, as the HTTP adapter reports it. */
  readonly ip?: string;
  /**
   * The purpose of a lock, the kind of a failed mail, the reason why a session ended, or whether the device of a sign-in is
   * `known` or `new`.
   */
  readonly purpose?: string;
  /** Number of lines of the same event, reason and guard that were omitted since the last line. */
  readonly suppressed?: number;
}
