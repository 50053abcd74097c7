/**
 * What the status does not say.
 *
 * - `unreachable`: the server has not answered: network, timeout, the page of a proxy, or a 401 or 403 of a gateway to a refresh,
 *   a sign-in or a sign-out. It may have done its work. Also if the `TokenStorage` cannot be read.
 * - `cancelled`: the user did not confirm the identity. Show no message.
 * - `signedOut`: the session of the request has ended, or another user has signed in. Show no message:
 *   the event `signedOut` was sent.
 * - `unknown_passkey`: no account has the passkey. The browser no longer offers it, where it can.
 * - any other: the `reason` of the server's answer. `recent_login_required` and `factor_required` (status 401): the session
 *   goes on, but this request needs another sign-in, with {@link AuthClient.login} or with a stronger factor.
 */
export type AuthErrorReason = 'unreachable' | 'cancelled' | 'signedOut' | (string & {});

/** A request that was refused, or that has no answer. Its message is for the user. */
export class AuthError extends Error {
  override readonly name!: 'AuthError';
  /** The HTTP status; 0 without a complete answer. */
  readonly status!: number;
  /** The messages of each field of the form; `{}` if no field is wrong. */
  readonly errors!: Readonly<Record<string, readonly string[]>>;
  /** Seconds to wait before the next request (`Retry-After`), or null. */
  readonly retryAfter!: number | null;
  /** Null if the status says everything. */
  readonly reason!: AuthErrorReason | null;

  constructor(message: string, details?: Partial<Pick<AuthError, 'status' | 'errors' | 'retryAfter' | 'reason'>>) {
    super(message);
    Object.assign(this, { name: 'AuthError', status: 0, errors: {}, retryAfter: null, reason: null }, details);
  }
}
