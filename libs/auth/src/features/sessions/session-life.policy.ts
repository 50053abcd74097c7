import type { AuthConfig, GuardConfig } from '../../foundation/config/auth-config';
import { readFlag } from '../../foundation/config/option-values.policy';
import { AuthConfigError, ValidationFailed } from '../../foundation/platform/errors';
import { ownField } from '../../request/http/request-body';

type LifeOptions = Pick<GuardConfig, 'accessTtl' | 'refreshTtl' | 'sessions'>;

/** How long a session may live. Each part only shortens what the options of the guard allow. */
export interface SessionLifeRequest {
  /**
   * Seconds until the deadline, from `accessTtl` to `refreshTtl`. Default: `refreshTtl`, or `sessions.ttlWithoutRemember` for
   * a session that is not remembered.
   */
  ttl?: number;
  /**
   * Seconds without a refresh after which the session ends: more than `accessTtl`, and not more than `sessions.idleTimeout`.
   * Default: `sessions.idleTimeout`.
   */
  idleTimeout?: number;
  /**
   * Whether the session outlives the browser. With `false` and the option `sessions.ttlWithoutRemember`, the deadline is
   * earlier, and in cookie mode the browser removes the refresh cookie when it closes.
   *
   * @default true
   */
  remember?: boolean;
}

/** The life of a new session. */
export interface SessionLife {
  /** Seconds until the deadline. */
  readonly ttl: number;
  /** The session's own idle time in seconds; null without one. */
  readonly idleTimeout: number | null;
  /** Whether the refresh cookie outlives the browser. */
  readonly remembered: boolean;
}

/**
 * Decides on the life of a new session. Pure. No value lengthens the life that the options allow. A value that cannot apply
 * is refused and not changed, because the caller would not notice.
 *
 * @throws AuthConfigError
 */
export function sessionLife(asked: SessionLifeRequest, { accessTtl, refreshTtl, sessions }: LifeOptions): SessionLife {
  const { ttl, idleTimeout, remember } = asked;
  if (remember !== undefined && typeof remember !== 'boolean') {
    throw new AuthConfigError('remember of a session must be a boolean. Convert the text of a form first.');
  }
  requireSeconds('ttl', ttl, accessTtl, refreshTtl, 'accessTtl to refreshTtl');
  requireSeconds(
    'idleTimeout',
    idleTimeout,
    accessTtl + 1,
    sessions.idleTimeout || refreshTtl,
    `more than accessTtl to ${sessions.idleTimeout ? 'sessions.idleTimeout' : 'refreshTtl'}`,
  );
  const isShort = remember === false && sessions.ttlWithoutRemember > 0;
  const longest = isShort ? Math.min(sessions.ttlWithoutRemember, refreshTtl) : refreshTtl;
  return { ttl: Math.min(ttl ?? longest, longest), idleTimeout: idleTimeout ?? null, remembered: !isShort };
}

/** An access token lives for `accessTtl` whatever its session does, so a session cannot be shorter. */
function requireSeconds(name: string, value: unknown, min: number, max: number, range: string): void {
  if (value === undefined || (Number.isInteger(value) && (value as number) >= min && (value as number) <= max)) return;
  throw new AuthConfigError(
    `${name} of a session must be a whole number of seconds from ${min} to ${max} (${range}). To allow a longer life, raise the option.`,
  );
}

/**
 * Reads the field `remember` of a sign-in: a boolean, or its text in a form (`on`, `false`). True if it is missing. Without
 * `sessions.ttlWithoutRemember` the field has no effect, whatever it contains.
 *
 * @throws ValidationFailed for any other value
 */
export function rememberIn(request: object, { sessions }: Pick<GuardConfig, 'sessions'>): boolean {
  if (sessions.ttlWithoutRemember === 0) return true;
  const value = ownField((request as { body?: unknown }).body, 'remember') ?? true;
  const remember = typeof value === 'string' ? readFlag(value) : value;
  if (typeof remember === 'boolean') return remember;
  throw new ValidationFailed({ remember: [{ key: 'validation.invalid', params: { field: 'remember' } }] });
}

/**
 * Why the lives of sessions must not start an application. A client refreshes when its access token expires, so a shorter
 * idle time would end sessions in use.
 */
export const sessionLifeErrors = ({ guards }: Pick<AuthConfig, 'guards'>): string[] =>
  guards.flatMap(({ accessTtl, sessions, nameOf }) => [
    ...(sessions.idleTimeout > 0 && sessions.idleTimeout <= accessTtl
      ? [
          `${nameOf('sessions.idleTimeout')} (SVC_SESSIONS_IDLE_TIMEOUT) is ${sessions.idleTimeout}, but clients refresh a ` +
            `session only every ${accessTtl} seconds (${nameOf('accessTtl')}). Set an idle time longer than accessTtl, or a shorter accessTtl.`,
        ]
      : []),
    ...(sessions.ttlWithoutRemember > 0 && sessions.ttlWithoutRemember < accessTtl
      ? [
          `${nameOf('sessions.ttlWithoutRemember')} (SVC_SESSIONS_TTL_WITHOUT_REMEMBER) is ${sessions.ttlWithoutRemember}, but an ` +
            `access token lives for ${accessTtl} seconds (${nameOf('accessTtl')}). Set a time that is not shorter, or a shorter accessTtl.`,
        ]
      : []),
  ]);
