/**
 * A user deleted a passkey. Not emitted when the account goes with it. Worth a mail to the account's owner.
 *
 * @publicApi
 */
export class PasskeyRemoved {
  constructor(
    readonly userId: string,
    readonly credentialId: string,
    readonly guard: string,
  ) {}
}
