import { event } from '../../kit';

/**
 * A user confirmed a second factor, or the host imported one. The login requires it from now on.
 *
 * @publicApi
 */
export class TwoFactorEnabled {
  constructor(
    readonly userId: string,
    readonly guard: string,
    /** Whether the host imported the factor with `Auth.twoFactor.importFactor`. */
    readonly imported: boolean,
  ) {}
}

/**
 * The second factor of a user was removed. The password alone is enough again. A good reason to mail the account's owner.
 *
 * @publicApi
 */
export class TwoFactorDisabled {
  constructor(
    readonly userId: string,
    readonly guard: string,
  ) {}
}

/**
 * A login found a confirmed second factor whose secret is missing, cannot be decrypted, or is no secret: its codes are
 * refused, and recovery codes are still accepted. Emitted at each such login after the correct password. The cause is a
 * lost encryption key, or a change of the column. `Auth.twoFactor.disable` removes the factor.
 *
 * @publicApi
 */
export class TwoFactorUnusable {
  constructor(
    readonly userId: string,
    readonly guard: string,
  ) {}
}

/**
 * A recovery code was used at a login. A good reason to mail the account's owner.
 *
 * @publicApi
 */
export class RecoveryCodeUsed {
  constructor(
    readonly userId: string,
    readonly guard: string,
    /** Number of remaining codes. */
    readonly remaining: number,
  ) {}
}

/**
 * A user got new recovery codes, and the former codes are invalid. A good reason to mail the account's owner.
 *
 * @publicApi
 */
export class RecoveryCodesReplaced {
  constructor(
    readonly userId: string,
    readonly guard: string,
  ) {}
}

declare module '../../foundation/platform/catalogue' {
  interface SecurityEvents {
    'auth.two_factor.enabled': TwoFactorEnabled;
    'auth.two_factor.disabled': TwoFactorDisabled;
    'auth.two_factor.unusable': TwoFactorUnusable;
    'auth.recovery_code.used': RecoveryCodeUsed;
    'auth.recovery_codes.replaced': RecoveryCodesReplaced;
  }
}

export const TWO_FACTOR_EVENTS: event.LoggedEvents = {
  'auth.two_factor.enabled': { event: TwoFactorEnabled, severity: 'info', details: event.ofUser },
  'auth.two_factor.disabled': { event: TwoFactorDisabled, severity: 'info', details: event.ofUser },
  'auth.two_factor.unusable': { event: TwoFactorUnusable, severity: 'warning', details: event.ofUser },
  'auth.recovery_code.used': { event: RecoveryCodeUsed, severity: 'info', details: event.ofUser },
  'auth.recovery_codes.replaced': { event: RecoveryCodesReplaced, severity: 'info', details: event.ofUser },
};
