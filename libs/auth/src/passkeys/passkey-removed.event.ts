/**
 * A passkey is gone: its user deleted it, or a reset of the password took it away from an account whose email nobody
 * had proved. Not emitted when the account goes with it. Worth a mail to the account's owner.
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
