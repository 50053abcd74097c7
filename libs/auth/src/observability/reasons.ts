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
