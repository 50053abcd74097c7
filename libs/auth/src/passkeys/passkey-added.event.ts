/**
 * A user registered a passkey, and can sign in with it from now on. Worth a mail to the account's owner.
 *
 * @publicApi
 */
export class PasskeyAdded {
  constructor(
    readonly userId: string,
    readonly credentialId: string,
    readonly guard: string,
  ) {}
}
