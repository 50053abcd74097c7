/** The operation of a route of the library, such as `login`. The page of the operations lists all of them. */
export type Operation = string;

/** The outcome of an operation. `challenged`: the login continues with a second factor, or with its enrolment. */
export type Outcome = 'succeeded' | 'challenged' | 'failed';

/**
 * The reasons of refusals and failures that belong to no feature, each with its meaning. Features state theirs in their manifests.
 * They appear in the log and in the metrics, never in a response.
 */
export const CORE_REASONS = {
  account_locked: '`features.lockout` has locked the account',
  expired_token: 'the access token has expired: the client refreshes it',
  hasher_busy: 'too many password hashes wait, or one waited too long (503)',
  insufficient_scope: 'the token lacks an ability',
  invalid_token: 'no key of this guard signed the token, or the token has another purpose',
  missing_token: 'no token was sent',
  other: 'an exception of the host',
  revoked_token: 'the session or the token was revoked',
  sign_in_refused: '`hooks.canSignIn` refused the user',
  store_unavailable: 'Redis, PostgreSQL, the user store or code of the host did not answer in time (503)',
  too_many_failures: 'the limit on failed attempts of the account is exhausted (429)',
  too_many_requests: 'a rate limit of the route is exhausted (429)',
  unexpected: 'an unexpected error: the log contains its stack (500)',
  unknown_user: 'no account has the identifier, or the account was deleted',
  validation_failed: 'a field of the request breaks a rule (422)',
} as const;

/**
 * All reasons. Features add theirs by merging into this interface: the list is closed, so that operators can define alerts for each
 * reason.
 */
export interface Reasons extends Record<keyof typeof CORE_REASONS, string> {}

/** A reason in the security log and in the metrics. */
export type Reason = keyof Reasons;

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
   * The purpose of a lock, the kind of a failed mail, the reason why a session ended, whether the device of a sign-in is
   * `known` or `new`, or whether a changed backup eligibility of a passkey was `refused` or `accepted`.
   */
  readonly purpose?: string;
  /** Number of lines of the same event, reason and guard that were omitted since the last line. */
  readonly suppressed?: number;
}
