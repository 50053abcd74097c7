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
