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
