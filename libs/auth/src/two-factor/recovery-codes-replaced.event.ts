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
