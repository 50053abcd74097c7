/**
 * A passkey was used whose backup state is not what it was: it was synced for the first time, or is no longer.
 *
 * @publicApi
 */
export class PasskeyBackupChanged {
  constructor(
    readonly userId: string,
    readonly credentialId: string,
    readonly guard: string,
    /** Whether it is backed up now. */
    readonly backedUp: boolean,
  ) {}
}
