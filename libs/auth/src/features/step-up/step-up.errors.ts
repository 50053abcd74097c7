import { AuthException } from '../../foundation/platform/errors';
import { type RequiredFactor, factorsFor } from './step-up.policy';
import { stepUpText } from './step-up.texts';

/**
 * The ways in which a user can confirm: with the password, with the password together with a one-time password
 * (`confirm.factors: 'all'`), or by signing in again (`confirm.afterLogin`). Features add theirs, by merging into this interface.
 */
export interface ConfirmationMethods {
  password: true;
  'password+otp': true;
  login: true;
}

export type ConfirmationMethod = keyof ConfirmationMethods;

type ConfirmOptions = { readonly ttl: number; readonly header: string };

/** The ways in which the user can confirm, for example `X-Svc-Confirmation-Methods: password, passkey`. */
const methodsHeader = ({ header }: ConfirmOptions, methods: readonly ConfirmationMethod[]): Record<string, string> => ({
  [`${header}-Methods`]: methods.join(', '),
});

/** The request needs a valid confirmation token: 423 with the challenge of RFC 9470. */
export class ConfirmationRequired extends AuthException {
  /** @param methods the ways in which this user can confirm */
  constructor(
    options: ConfirmOptions,
    readonly methods: readonly ConfirmationMethod[],
  ) {
    super('confirmation_required', {
      status: 423,
      text: stepUpText('auth.confirmation_required'),
      headers: {
        'WWW-Authenticate': `Bearer error="insufficient_user_authentication", max_age=${options.ttl}`,
        ...methodsHeader(options, methods),
      },
    });
  }
}

/**
 * The user did not sign in recently enough: 401 with the challenge of RFC 9470 §3. A refresh does not help; a new sign-in
 * does.
 */
export class RecentLoginRequired extends AuthException {
  /** @param maxAge seconds within which the user must have signed in */
  constructor(readonly maxAge: number) {
    super('recent_login_required', {
      status: 401,
      text: stepUpText('auth.recent_login_required'),
      // Without CORS headers of the host, a page of another origin reads the body but not the challenge.
      reason: 'recent_login_required',
      headers: { 'WWW-Authenticate': `Bearer error="insufficient_user_authentication", max_age=${maxAge}` },
    });
  }
}

/** The confirmation token was issued to another session of the user: 423. The client has to confirm in its own session. */
export class ConfirmationOfAnotherSession extends AuthException {
  /** @param methods the ways in which this user can confirm */
  constructor(
    options: ConfirmOptions,
    readonly methods: readonly ConfirmationMethod[],
  ) {
    super('confirmation_session_mismatch', {
      status: 423,
      text: stepUpText('auth.confirmation_required'),
      reason: 'confirmation_session_mismatch',
      headers: methodsHeader(options, methods),
    });
  }
}

/**
 * The user has not signed in to this session with the required factor: 401 with the challenge of RFC 9470. The client signs
 * in again, with one of `acr_values`.
 */
export class FactorRequired extends AuthException {
  constructor(required: RequiredFactor) {
    const values = factorsFor(required).join(' ');
    super('factor_required', {
      status: 401,
      text: stepUpText('auth.factor_required'),
      // See RecentLoginRequired.
      reason: 'factor_required',
      headers: { 'WWW-Authenticate': `Bearer error="insufficient_user_authentication", acr_values="${values}"` },
    });
  }
}

/** The current password is wrong: 422 under the field of the password. */
export class WrongPassword extends AuthException {
  constructor(field: string) {
    super('wrong_password', { status: 422, errors: { [field]: [stepUpText('auth.wrong_password')] } });
  }
}
