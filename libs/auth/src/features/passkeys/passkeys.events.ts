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

/**
 * A passkey signed with a count that is not above the one it signed with before: there may be a copy of it. The
 * attempt was refused and the passkey kept. Ask its owner, and delete it if in doubt.
 *
 * @publicApi
 */
export class PasskeyCloneDetected {
  constructor(
    readonly userId: string,
    readonly credentialId: string,
    readonly guard: string,
  ) {}
}

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
