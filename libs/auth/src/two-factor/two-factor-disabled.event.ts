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
