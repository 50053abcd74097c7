/**
 * A user confirmed a second factor: from now on the login asks for it.
 *
 * @publicApi
 */
export class TwoFactorEnabled {
  constructor(
    readonly userId: string,
    readonly guard: string,
  ) {}
}

/**
 * A user's second factor is gone: the password is enough again. Worth a mail to the account's owner.
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
 * A recovery code was used up at a login. Worth a mail to the account's owner.
 *
 * @publicApi
 */
export class RecoveryCodeUsed {
  constructor(
    readonly userId: string,
    readonly guard: string,
    /** How many codes are left. */
    readonly remaining: number,
  ) {}
}

/**
 * A user was given new recovery codes; the former ones are dead. Worth a mail to the account's owner.
 *
 * @publicApi
 */
export class RecoveryCodesReplaced {
  constructor(
    readonly userId: string,
    readonly guard: string,
  ) {}
}
